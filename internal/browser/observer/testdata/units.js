// @ts-check
// The units of the scripts that js/*.txtar test. script_test.go appends this file to the scripts. Each function of `units`
// reads the current document and returns lines, which must equal CASE.want in the archive of the same name.

/** The elements with an id, in document order, with the elements of a shadow tree after their host. @returns {El[]} */
function named() {
  /** @type {El[]} */
  const found = [];
  /** @param {Tree} tree */
  const gather = (tree) => {
    for (const el of tree.querySelectorAll("*")) {
      if (el.hasAttribute("id")) found.push(el);
      if (el.shadowRoot) gather(el.shadowRoot);
    }
  };
  gather(document);
  return found;
}

/** An updated model of the document. */
function modelNow() {
  const model = new Model(document);
  model.structural = true;
  model.refresh.update(true);
  return model;
}

const FIELD_NAMES = ["kind", "parent", "tag", "role", "text", "href", "name", "type", "value", "placeholder", "level", "states", "child", "attributes", "whole", "hints", "join"];

/**
 * The lines of a patch with the names of their columns, without values that differ from run to run.
 * @param {string | null} patch
 */
function readable(patch) {
  if (patch === null) return "nothing";
  const [head, ...lines] = patch.replaceAll(location.origin, "").split("\n");
  const header = head.split("\t");
  const out = [header.length > 4 ? "header " + [header[1], header[2], ...header.slice(4, 10)].join("|") : "header " + header[0]];
  const columns = ["ops", "refs", "afters", "masks", ...FIELD_NAMES, "places", "x", "y", "w", "h", "covered"];
  lines.forEach((line, i) => {
    if (line) out.push("  " + columns[i] + " " + line.split("\t").join("|"));
  });
  return out.join("\n");
}

const units = {
  /** The accessible name of each element with an id. */
  names() {
    const { naming } = modelNow();
    return named().map((el) => {
      const tag = tagOf(el);
      probeAttributes(el);
      const fields = emptyFields();
      setText(fields, naming.name(el, tag, roleOf(el, tag, explicitRole(el))));
      return el.id + " " + JSON.stringify(fields[F_TEXT]) + (fields[F_WHOLE] ? " of " + fields[F_WHOLE].length : "");
    });
  },

  /** The old and the new color of each element with an id. */
  shades() {
    return named().map((el) => el.id + " " + changeOfColor(el.dataset.was || "", el.dataset.now || "", flatElement(el)));
  },

  /** The length and the end of the text of each element with an id, as targets match it. */
  whole() {
    const { naming } = modelNow();
    return named().map((el) => {
      const tag = tagOf(el);
      probeAttributes(el);
      const role = roleOf(el, tag, explicitRole(el));
      const fields = emptyFields();
      setText(fields, nameOrText(el, tag, role, isInteractive(el, tag, "", 0) ? INTERACTIVE : STRUCTURAL, naming, false));
      const text = fields[F_WHOLE] || fields[F_TEXT];
      return [el.id, text.length, fields[F_WHOLE] ? "of which " + fields[F_TEXT].length : "", JSON.stringify(text.slice(-24))].filter(String).join(" ");
    });
  },

  /** The role and the accessible name of each element with an id. */
  described() {
    const { naming } = modelNow();
    return named().map((el) => {
      const tag = tagOf(el);
      probeAttributes(el);
      const role = roleOf(el, tag, explicitRole(el));
      return el.id + " " + role + " " + JSON.stringify(naming.name(el, tag, role));
    });
  },

  /** The visible content of the document, as readers receive it. */
  markup() {
    const agent = new Agent(document, () => {});
    return markupOf(agent, null).html.replaceAll(location.origin, "").split("\n");
  },

  /** The role, name and value of each listed element with an id. */
  faces() {
    const { records } = modelNow();
    return named().map((el) => {
      const rec = records.get(el);
      if (!rec || !rec.shown) return el.id + " is not listed";
      return [el.id, rec.fields[F_ROLE], JSON.stringify(rec.fields[F_TEXT]), "=" + rec.fields[F_VALUE]].join(" ");
    });
  },

  /** The role and the name of each listed field with an id, and its caption. */
  captions() {
    const { records } = modelNow();
    return named().map((el) => {
      const rec = records.get(el);
      return rec && rec.shown ? el.id + " " + rec.fields[F_ROLE] + " " + JSON.stringify(rec.fields[F_TEXT]) : el.id + " is not listed";
    });
  },

  /** The role of each element with an id, and whether it is interactive. */
  roles() {
    return named().map((el) => {
      const tag = tagOf(el);
      const explicit = explicitRole(el);
      return el.id + " " + roleOf(el, tag, explicit) + (isInteractive(el, tag, explicit, 0) ? " interactive" : "");
    });
  },

  /**
   * The facts from the sheets of the document, and the elements that count because of their
   * cursor.
   */
  styles() {
    const styles = new Styles();
    const { selector } = styles.read(document);
    const says = Object.entries({ overflows: styles.overflows, clips: styles.clips, contents: styles.contents, structural: styles.structural, opaque: styles.opaque });
    const pointers = new Cursors(styles);
    return [
      "pointers " + selector.slice(INLINE_POINTER.length + 1),
      "says " + says.filter(([, is]) => is).map(([name]) => name).join(" "),
      "found " + pointers.candidates(document).filter((el) => pointers.isPointer(el)).map((el) => el.id).join(" "),
    ];
  },

  /**
   * The names and texts of the listed elements with an id: first of all elements, and after each step of those that
   * differ.
   * @param {string[]} steps
   */
  mutations(steps) {
    const agent = new Agent(document, () => {});
    agent.model.structural = true;
    agent.start();
    const was = new Map();
    const next = () => {
      agent.take(true, false);
      const out = [];
      for (const el of named()) {
        const rec = agent.model.records.get(el);
        const text = rec && rec.shown ? rec.fields[F_ROLE] + " " + JSON.stringify(rec.fields[F_TEXT]) : undefined;
        if (text !== was.get(el) && text !== undefined) out.push(el.id + " " + text);
        was.set(el, text);
      }
      return out;
    };
    return [...next(), ...steps.flatMap((step) => {
      (0, eval)(step);
      return ["---", ...next()];
    })];
  },

  /**
   * The notices after each step, and then after a frame in which nothing happened. A step may await its own work. A step
   * that begins with "// fresh" starts again in a document that was loaded during a call, and a step that begins with "//
   * last" starts when no call is in progress.
   * @param {string[]} steps
   */
  async notices(steps) {
    /** @type {string[]} */
    let sent = [];
    const agent = new Agent(document, (message) => sent.push(...message.split("\n").slice(1)));
    agent.start();
    agent.take(true, false);
    agent.applyAck([agent.writer.sequence, 0, agent.writer.waiting.length]);
    agent.notices.setActing({ on: true, fresh: false });
    const out = [];
    for (const step of steps) {
      if (step.startsWith("// fresh")) {
        agent.notices.setActing({ on: false, fresh: false });
        agent.notices.setActing({ on: true, fresh: true });
      }
      if (step.startsWith("// last")) collectNotices(agent, { last: true });
      agent.notices.notBefore = 0; // each step sees its first frame
      await (0, eval)("(async () => {" + step + "})()");
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      agent.takeRecords();
      agent.notices.check();
      for (const line of sent) {
        const { id, kind, text, detail, ref, gone } = JSON.parse(line);
        out.push(id + " " + kind + (ref < 0 ? "" : " [" + ref + "]") + (gone ? " gone" : "") + ": " + text + (detail ? " | " + detail : ""));
      }
      out.push("---");
      sent = [];
    }
    out.pop();
    return out;
  },

  /** The sign that the page is being built, initially and after each step. @param {string[]} steps */
  building(steps) {
    const next = () => {
      const { building, said, empty } = buildingSign(document);
      return said || (empty ? "empty" : building ? "busy" : "built");
    };
    return [next(), ...steps.map((step) => {
      (0, eval)(step);
      return next();
    })];
  },

  /**
   * The marks of the listed elements with an id, initially and after each step.
   * @param {string[]} steps
   */
  marks(steps) {
    const agent = new Agent(document, () => {});
    agent.model.structural = true;
    agent.start();
    const next = () => {
      agent.take(true, false);
      return named().flatMap((el) => {
        const rec = agent.model.records.get(el);
        return rec && rec.shown ? [(el.id + " " + rec.fields[F_MARKS]).trim()] : [];
      });
    };
    return [...next(), ...steps.flatMap((step) => {
      (0, eval)(step);
      return ["---", ...next()];
    })];
  },

  /**
   * The elements with an id that have hints or show on hover, initially and after each step: the hints of the listed
   * elements, and the element to hover first for each of the others. The model with structure must have the same hints.
   * @param {string[]} steps
   */
  hovers(steps) {
    const agents = [false, true].map((structural) => {
      const agent = new Agent(document, () => {});
      agent.model.structural = structural;
      agent.start();
      return agent;
    });
    const next = () => {
      const [plain, structural] = agents.map((agent) => {
        agent.take(true, false);
        const { onHover, records } = agent.model;
        onHover.begin();
        return named().flatMap((el) => {
          const rec = records.get(el);
          if (rec && rec.shown) return rec.fields[F_KIND] === INTERACTIVE && rec.fields[F_MARKS] ? [[el.id, rec.fields[F_ROLE], JSON.stringify(rec.fields[F_TEXT]), rec.fields[F_MARKS]].join(" ")] : [];
          const owner = rec && onHover.isHiddenControl(rec) ? onHover.toHoverFor(el) : null;
          return owner ? [el.id + " behind " + owner.id] : [];
        });
      });
      return plain.join() === structural.join() ? plain : [...plain, "with structure", ...structural];
    };
    return [...next(), ...steps.flatMap((step) => {
      (0, eval)(step);
      return ["---", ...next()];
    })];
  },

  /** The elements with an id that a read lists, initially and a frame after each step. @param {string[]} steps */
  async animations(steps) {
    const agent = new Agent(document, () => {});
    agent.start();
    const next = () => {
      agent.take(true, false);
      return named().filter((el) => (agent.model.records.get(el) || { shown: false }).shown).map((el) => el.id).join(" ");
    };
    const out = [next(), next()]; // the second one finds nothing new
    for (const step of steps) {
      (0, eval)(step);
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      out.push(next());
    }
    return out;
  },

  /** The number of hints about hovering, and the number of elements whose style a second search for hints reads. */
  reads() {
    const { onHover } = modelNow();
    const original = globalThis.getComputedStyle;
    /** @type {Set<Element>} */
    const read = new Set();
    globalThis.getComputedStyle = (el, pseudo) => {
      read.add(el);
      return original(el, pseudo);
    };
    onHover.find();
    globalThis.getComputedStyle = original;
    return ["hints " + onHover.hints.size, "read " + read.size];
  },

  /**
   * The elements with an id that are listed as interactive, in a model without and in one with structure, initially and after each
   * step.
   * @param {string[]} steps
   */
  holders(steps) {
    const agents = [false, true].map((structural) => {
      const agent = new Agent(document, () => {});
      agent.model.structural = structural;
      agent.start();
      return agent;
    });
    const next = () => agents.map((agent) => {
      agent.take(true, false);
      const listed = named().filter((el) => {
        const rec = agent.model.records.get(el);
        return rec && rec.shown && rec.fields[F_KIND] === INTERACTIVE;
      });
      return (agent.model.structural ? "structural " : "") + listed.map((el) => el.id).join(" ");
    });
    return [...next(), ...steps.flatMap((step) => {
      (0, eval)(step);
      return ["---", ...next()];
    })];
  },

  /**
   * The number of awaited timers of the page: after each step, which the page performs when it handles a click, and after
   * a change.
   * @param {string[]} steps
   */
  async timers(steps) {
    const { timers } = new Agent(document, () => {});
    const out = [];
    for (const step of steps) {
      timers.setActing(true);
      timers.handleEvent(/** @type {Event} */ ({ type: "click", isTrusted: true }));
      if (step.startsWith("// own")) ownTimer(() => {}, 1000);
      (0, eval)(step);
      await scheduler.postTask(() => {}, { priority: "background" });
      const handled = timers.pending;
      timers.recordChange();
      out.push(handled + " " + timers.pending + " " + timers.isPending(performance.now() + 600) + " " + timers.pending);
    }
    return out;
  },

  /**
   * The operations of each patch, followed by the refs and names of the listed elements, initially and after each step.
   * After a step that begins with "// read", the daemon reads the rows. A first step that begins with "// at once" runs
   * before the rows of the first read are recorded.
   * @param {string[]} steps
   */
  async redraws(steps) {
    const agent = new Agent(document, () => {});
    let refs = 0;
    const next = () => {
      const patch = agent.take(false, false);
      const count = agent.writer.waiting.length;
      agent.applyAck([agent.writer.sequence, refs, count]);
      refs += count;
      const ops = patch === null ? "nothing" : patch.split("\n")[1] || "header";
      const listed = [];
      for (let rec = agent.model.records.head.next; rec; rec = rec.next) listed.push(rec.ref + " " + rec.fields[F_TEXT]);
      return ops + ": " + listed.join(", ");
    };
    agent.start();
    const out = [next()];
    agent.recordRows(1);
    while (agent.model.rows.pending && !steps[0].startsWith("// at once")) await scheduler.postTask(() => {}, SLICES);
    for (const step of steps) {
      await (0, eval)("(async () => {" + step + "})()");
      await Promise.resolve();
      out.push(next());
      if (step.startsWith("// read")) agent.recordRows(out.length);
    }
    return out;
  },

  /**
   * How each listed element differs, after each step, from the last read; see Rows.check. The first step runs before the rows of the
   * first read are recorded, and the page is read again after each step.
   * @param {string[]} steps
   */
  async rows(steps) {
    const agent = new Agent(document, () => {});
    agent.start();
    agent.take(false, false);
    agent.recordRows(1);
    const out = [];
    for (const [i, step] of steps.entries()) {
      (0, eval)(step);
      await Promise.resolve();
      while (agent.model.rows.pending) await scheduler.postTask(() => {}, SLICES);
      const answers = [];
      for (let rec = agent.model.records.head.next; rec; rec = rec.next) {
        const difference = agent.differenceOf(rec, { name: rec.fields[F_TEXT], seen: i + 1, start: 0, doubtful: false });
        answers.push(difference ? difference.error : "same");
      }
      out.push(i + 1 + ": " + answers.join(", "));
      agent.take(false, false);
      agent.recordRows(i + 2);
    }
    return out;
  },

  /**
   * The reason why the document has not settled after each step, or "settled". The page performs the step when it handles a
   * click on its button. A step that begins with "// again" follows the response to a request, a step with "// late" follows
   * soon after the last answer, and with "// own" the observer uses timers and frames. A step with "// busy" may still have
   * tasks when it is answered, and a step with "// idle" runs when no task is left.
   * @param {string[]} steps
   */
  async settling(steps) {
    const agent = new Agent(document, () => {});
    agent.start();
    const out = [];
    for (const step of steps) {
      if (step.startsWith("// late")) {
        if (agent.settling.settledAt > 0) agent.settling.settledAt = performance.now();
        (0, eval)(step);
        await Promise.resolve();
        continue;
      }
      const again = step.startsWith("// again");
      let why = "";
      if (step.startsWith("// idle")) await scheduler.postTask(() => {}, LAST);
      do {
        if (!again) {
          agent.settling.end();
          agent.settling.begin(document.querySelector("button"));
          agent.settling.expectFrame();
        }
        if (step.startsWith("// own")) ownTimer(() => {}, 300), ownFrame(() => {});
        (0, eval)(step);
        why = (await agent.settling.answer(again)) || "settled";
      } while (why === "no frame" || (why === "tasks" && !step.startsWith("// busy"))); // the machine is slow
      out.push(why);
    }
    return out;
  },

  /**
   * The patches of a document: the first, full patch, and the patch after each step. Each addition receives the next ref.
   * A step that begins with "// measured" is read with its boxes.
   * @param {string[]} steps
   */
  writer(steps) {
    const agent = new Agent(document, () => {});
    let refs = 0;
    /** @param {boolean} measured */
    const next = (measured) => {
      const patch = agent.take(false, measured);
      const count = agent.writer.waiting.length;
      agent.applyAck([agent.writer.sequence, refs, count]);
      refs += count;
      return readable(patch);
    };
    agent.start();
    return [next(false), ...steps.map((step) => {
      (0, eval)(step);
      return next(step.startsWith("// measured"));
    })];
  },
};

Object.assign(globalThis, { __units: units });
