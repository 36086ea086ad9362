// @ts-check
// Functions that determine the color that a person sees, and name it. A translucent color is blended with its background,
// because black at 4 % opacity on white is not black.

/** The maximum number of ancestors whose backgrounds are read. */
const MAX_BEHIND = 30;
/** Draws one pixel, to convert colors in other notations. @type {OffscreenCanvasRenderingContext2D | null} */
let pixel = null;

/** Returns the red, green and blue (0 to 255) and the opacity (0 to 1) of a CSS color. @param {string} color */
function rgbaOf(color) {
  const parts = RGBA.exec(color);
  if (parts) return [Number(parts[1]), Number(parts[2]), Number(parts[3]), parts[4] === undefined ? 1 : Number(parts[4])];
  pixel = pixel || new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  if (pixel === null || !CSS.supports("color", color)) return [0, 0, 0, 0];
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = "transparent"; // stays if the color depends on the element
  pixel.fillStyle = color;
  pixel.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
}

/** Blends a color with the color behind it. @param {number[]} color @param {number[]} behind */
function blended([r, g, b, a], behind) {
  return [r, g, b].map((part, i) => Math.round(part * a + behind[i] * (1 - a)));
}

/** Returns the color behind the content of an element. @param {El | null} el */
function colorBehind(el) {
  const layers = [];
  for (let n = el, up = 0; n && up < MAX_BEHIND; n = flatElement(n), up++) {
    const color = rgbaOf(getComputedStyle(n).backgroundColor);
    if (color[3] > 0) layers.push(color);
    if (color[3] === 1) break;
  }
  return layers.reduceRight((behind, layer) => blended(layer, behind), [255, 255, 255]);
}

/** Returns words for a visible color: its name, or else its hue, light or dark. @param {number[]} rgb */
function shadeWord(rgb) {
  const named = COLORS[rgb.join(",")];
  if (named) return named;
  const most = Math.max(...rgb), least = Math.min(...rgb), range = most - least, light = (most + least) / 510;
  if (range < 12 || range < 0.18 * (255 - Math.abs(most + least - 255))) {
    return light > 0.97 ? "white" : light > 0.75 ? "light gray" : light > 0.4 ? "gray" : light > 0.08 ? "dark gray" : "black";
  }
  const hue = hueWord(rgb);
  if (hue === "orange" && light < 0.35) return "brown";
  return (light > 0.8 ? "light " : light < 0.28 ? "dark " : "") + hue;
}

/**
 * Describes the change of a color, such as "green → light red" or "lighter". It returns "" if the change is not visible.
 * @param {string} was @param {string} now @param {El | null} behind the element whose background is behind the color
 */
function changeOfColor(was, now, behind) {
  const before = rgbaOf(was), after = rgbaOf(now), base = colorBehind(behind);
  const seen = [before, after].map((color) => blended(color, base));
  const words = [before, after].map((color, i) => (color[3] === 0 ? "" : shadeWord(seen[i])));
  if (String(seen[0]) === String(seen[1])) return "";
  if (words[0] !== words[1]) return (words[0] ? words[0] + " " : "") + "→ " + (words[1] || "none");
  const [one, other] = seen.map(([r, g, b]) => 2 * r + 7 * g + b);
  return other > one ? "lighter" : other < one ? "darker" : words[1];
}
