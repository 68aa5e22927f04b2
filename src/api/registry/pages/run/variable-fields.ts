import { describeGiver, describeInherited, type Inherited, showInherited } from '#api/environments/pages/inherited.ts';
import type { Node } from '#api/web/forms/schema/plan/node.ts';
import { secretsIn } from '#api/web/forms/schema/secrets.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { type Html, html } from '#api/web/html.ts';
import { givenTo } from './compared.ts';
import { findOwnSecrets, findSecretsToGiveUp } from './differences.ts';
import type { RunForm } from './run-form.ts';
import { omitField } from './submission.ts';

/**
 * What applies to variables that are left empty: values of the environment and its variable sets, and secrets of a copied run or of the
 * deployment.
 */
export function describeKept(
  { facts, entry, omitted }: RunForm,
  requirementNotes: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const { source, deployed, root, inherited } = facts;
  const secrets = new Set(source?.prefill?.secrets ?? deployed?.secrets ?? []);
  const rotated = new Set(deployed ? facts.rotated.ofBaseline : facts.rotated.ofSource);
  const entered = [...secretsIn(root, entry).keys()];
  const kept = root.members.flatMap(({ name }): [string, string][] => {
    const slot = slots.member('', name);
    const isEntered = entered.some((each) => each === slot || each.startsWith(`${slot}/`));
    if (isEntered || !secrets.has(name) || omitted.includes(name) || requirementNotes.get(slot) === '') return [];
    const given = inherited.get(slot);
    // The comparison beside the field already says that the run gets this value.
    if (given && rotated.has(name)) return [];
    const run = deployed?.run ?? source;
    const wasGiven = run !== null && givenTo(run).includes(name);
    const isOfOther = facts.secretsOfOthers.includes(name);
    const value = deployed ? 'deployed value' : 'value of the earlier run';
    const giver = deployed ? 'another person' : 'another person or an output';
    return [[slot, describeKeptSecret(given, { wasGiven, isOfOther, value, giver })]];
  });
  return new Map([...describeInherited(inherited), ...kept]);
}

/**
 * Says what happens to a deployed secret whose field is left empty.
 * @param origin `wasGiven`: it came from the environment or a variable set, so the run gets it from there. `isOfOther`: another person
 * entered it
 */
export function describeKeptSecret(
  given: Inherited | undefined,
  origin: { readonly wasGiven: boolean; readonly isOfOther: boolean; readonly value?: string; readonly giver?: string },
): string {
  const { wasGiven, isOfOther, value = 'deployed value', giver = 'another person' } = origin;
  const kept = `Left empty, the ${value} is kept`;
  if (isOfOther) return `${kept} if nothing else changes; otherwise enter it again, because ${giver} gave it`;
  if (!given) return kept;
  return wasGiven
    ? `${kept} (${describeGiver(given)})`
    : `${kept} instead of ${showInherited(given)} (${describeGiver(given)})`;
}

/** Says that deployed secrets are kept, and offers to drop them. */
export function renderSecretChoices(form: RunForm): Html | null {
  const { facts } = form;
  const { deployed, source } = facts;
  const own = deployed ? findOwnSecrets(facts, deployed) : source ? findSecretsToGiveUp(facts, source) : [];
  if (own.length === 0) return null;
  const ofOthers = own.filter(({ name }) => facts.secretsOfOthers.includes(name));
  const subject = deployed ? 'A deployed secret' : 'A secret of the earlier run';
  const hint =
    ofOthers.length === 0
      ? `${subject} whose field is empty is kept, whatever else the run changes. Check values such as an address: the run sends the secret there.`
      : `${subject} that another person gave is kept only if nothing else changes: otherwise, a run with another address, for example, could disclose it.`;
  return html`${renderOmitted(form, own)}${deployed ? null : renderNotKept(ofOthers)}<p class="field-hint">${hint}</p>`;
}

/** Names the secrets that a copy loses if anything else changes, before the visitor changes anything. */
function renderNotKept(secrets: readonly Node[]): Html | null {
  if (secrets.length === 0) return null;
  const names = secrets.map(({ name }, index) => html`${index === 0 ? '' : ', '}<code class="foreign">${name}</code>`);
  const [which, them] = secrets.length === 1 ? ['this secret', 'it'] : ['these secrets', 'them'];
  return html`<p class="field-hint">Another person or an output gave the earlier run ${which}: ${names}. If you change anything, enter ${them} again, or choose above to leave ${them} out.</p>`;
}

/** Offers to drop deployed secrets. */
function renderOmitted({ omitted, facts: { inherited, deployed } }: RunForm, own: readonly Node[]): Html | null {
  const boxes = own.flatMap(({ name, isRequired, default: value }) => {
    const given = inherited.get(slots.member('', name));
    if (isRequired && value === undefined && !given) return [];
    const otherwise = value === undefined ? 'leave it out' : "use the template's default";
    const instead = given ? `use ${showInherited(given)} (${describeGiver(given)})` : otherwise;
    return [
      html`<label class="choice"><input type="checkbox" name="${omitField}" value="${name}" ${omitted.includes(name) ? html`checked` : null}> <span><code class="foreign">${name}</code>: <span class="foreign">${instead}</span></span></label>`,
    ];
  });
  if (boxes.length === 0) return null;
  return html`<fieldset class="field"><legend>Instead of the ${deployed ? 'deployed secret' : 'secret of the earlier run'}</legend><div class="choices">${boxes}</div></fieldset>`;
}
