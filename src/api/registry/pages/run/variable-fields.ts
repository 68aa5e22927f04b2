import { describeGiver, describeInherited, showInherited } from '#api/environments/pages/inherited.ts';
import type { Node } from '#api/web/forms/schema/plan/node.ts';
import { secretsIn } from '#api/web/forms/schema/secrets.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { findSecretsToReenter } from './differences.ts';
import type { RunFacts } from './facts.ts';
import type { RunForm } from './run-form.ts';
import { omitField } from './submission.ts';

/** What applies to variables that are left empty: what the environment and its variable sets give, and the secrets of a copied run or of the deployment. */
export function describeKept(
  { facts, entry, omitted }: RunForm,
  requirementNotes: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const { source, deployed, root, inherited } = facts;
  const secrets = new Set(source?.prefill?.secrets ?? deployed?.secrets ?? []);
  const of = deployed ? 'deployed value' : 'value of the earlier run';
  const rotated = new Set(deployed ? facts.rotated.ofBaseline : facts.rotated.ofSource);
  const entered = [...secretsIn(root, entry).keys()];
  const kept = root.members.flatMap(({ name }): [string, string][] => {
    const slot = slots.member('', name);
    const isEntered = entered.some((each) => each === slot || each.startsWith(`${slot}/`));
    if (isEntered || !secrets.has(name) || omitted.includes(name) || requirementNotes.get(slot) === '') return [];
    const given = inherited.get(slot);
    // Beside it stands that the run gets it.
    if (given && rotated.has(name)) return [];
    const otherwise = given ? `. Otherwise, ${showInherited(given)} takes its place (${describeGiver(given)})` : '';
    return [[slot, `Left empty, the ${of} is kept, if nothing else changes${otherwise}`]];
  });
  return new Map([...describeInherited(inherited), ...kept]);
}

/** Says when deployed secrets are kept, and what visitors can do who do not want to enter them again. */
export function renderSecretChoices(form: RunForm): Html | null {
  const { facts, basic } = form;
  if (!facts.deployed || basic.operation === 'destroy') return null;
  const own = findSecretsToReenter(facts, facts.deployed);
  if (own.length === 0) return null;
  return html`${renderOmitted(form, own)}<p class="field-hint">A deployed secret is kept only while the version and all variables stay the same: otherwise a run with another address, for example, could disclose it. To change anything else, enter it again above${mayOmit(own) ? ', or choose above what the run gets instead' : null}.${renderWayOut(facts)}</p>`;
}

function mayOmit(own: readonly Node[]): boolean {
  return own.some(({ isRequired, default: value }) => !isRequired || value !== undefined);
}

/** Offers to give up secrets of the deployment: a visitor who does not know them can then change other variables. */
function renderOmitted({ omitted }: RunForm, own: readonly Node[]): Html | null {
  const optional = own.filter(({ isRequired, default: value }) => !isRequired || value !== undefined);
  if (optional.length === 0) return null;
  const boxes = optional.map(({ name, default: value }) => {
    const instead = value === undefined ? 'leave it out' : "use the template's default";
    return html`<label class="choice"><input type="checkbox" name="${omitField}" value="${name}" ${omitted.includes(name) ? html`checked` : null}> <span><code class="foreign">${name}</code>: ${instead}</span></label>`;
  });
  return html`<fieldset class="field"><legend>Instead of the deployed secret</legend><div class="choices">${boxes}</div></fieldset>`;
}

/** What the environment provides is not asked for at each change. */
function renderWayOut({ environmentId: id, maySetVariables }: RunFacts): Html | null {
  if (id === '') return null;
  const where = maySetVariables
    ? html`<a href="${pagePath(pages.newEnvironmentVariable, { id })}">add it to the variables of the environment</a> as a secret`
    : html`ask whoever may edit the environment to add it to the variables of the environment as a secret`;
  return html` So that it is not asked for at each change, ${where}: runs then get it from there.`;
}
