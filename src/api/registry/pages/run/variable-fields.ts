import { secretsIn } from '#api/web/forms/schema/secrets.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { type Html, html } from '#api/web/html.ts';
import { findOwnSecrets } from './differences.ts';
import type { RunForm } from './run-form.ts';
import { omitField } from './sent.ts';

/** What applies to variables that are left empty: what the environment sets, and the secrets of a copied run or of the deployment. */
export function describeKept({ facts, entry }: RunForm): ReadonlyMap<string, string> {
  const { source, deployed, root, inherited } = facts;
  const secrets = new Set(source?.prefill?.secrets ?? deployed?.secrets ?? []);
  const of = deployed ? 'deployed value' : 'value of the earlier run';
  const entered = [...secretsIn(root, entry).keys()];
  const kept = root.members.flatMap(({ name }): [string, string][] => {
    const slot = slots.member('', name);
    const isEntered = entered.some((each) => each === slot || each.startsWith(`${slot}/`));
    return isEntered || !secrets.has(name) ? [] : [[slot, `Left empty, the ${of} is kept, if nothing else changes`]];
  });
  return new Map([...inherited, ...kept]);
}

/** Offers to give up secrets of the deployment: whoever does not know them can change other variables then. */
export function renderOmitted({ facts, basic, omitted }: RunForm): Html | null {
  if (!facts.deployed || basic.operation === 'destroy') return null;
  const optional = findOwnSecrets(facts, facts.deployed).filter(
    ({ isRequired, default: value }) => !isRequired || value !== undefined,
  );
  if (optional.length === 0) return null;
  const boxes = optional.map(({ name, default: value }) => {
    const instead = value === undefined ? 'leave it out' : "use the template's default";
    return html`<label class="choice"><input type="checkbox" name="${omitField}" value="${name}" ${omitted.includes(name) ? html`checked` : null}> <span><code class="foreign">${name}</code>: ${instead}</span></label>`;
  });
  return html`<fieldset class="field"><legend>Instead of the deployed secret</legend><div class="choices">${boxes}</div>
<p class="field-hint">A deployed secret is kept only while the version and all variables stay the same. To change anything else, enter it again above, or choose this.</p></fieldset>`;
}
