// @ts-check
// freshWalk is the reference for tests: it describes the document with a new model, for comparison with the model that
// follows mutations. Only the command "freshWalk" calls it.

/**
 * Describes the document with a new model: one line per element, its ref and its fields, the parent
 * as a ref.
 * @param {Agent} agent
 */
function freshWalk(agent) {
  const model = new Model(agent.model.doc);
  model.structural = agent.model.structural;
  model.attributes = agent.model.attributes;
  model.frames = agent.model.frames;
  model.onRoot = (root) => model.sweep.follow(root);
  model.listeners.needsWalk = true; // visits each element, so that scans that skip elements are compared with a full walk
  model.refresh.update(true);
  model.records.join();
  /** @type {string[]} */
  const lines = [];
  /** @param {Rec} rec */
  const refOf = (rec) => {
    const own = agent.model.records.get(rec.node);
    return own ? own.ref : "^";
  };
  for (let rec = model.records.head.next; rec; rec = rec.next) {
    const parent = rec.fields[F_PARENT];
    lines.push(refOf(rec) + "\t" + rec.fields.with(F_PARENT, parent ? refOf(parent) : "^").join("\t"));
  }
  return lines.join("\n");
}
