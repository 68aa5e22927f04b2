import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { readVariables, type VariablesEntry } from '#api/web/forms/schema/variables.ts';
import { shorten } from '#api/web/forms/schema/view/hints.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import { type ComparedFacts, type Deployment, type Difference, markDifferences } from './compared.ts';
import { findDifferences, markUnread } from './differences.ts';
import type { RunFacts } from './facts.ts';

/** A form whose run may change a deployment, with the facts for the comparison. */
interface ComparedForm {
  readonly facts: ComparedFacts & {
    /** The deployment that the run replaces, if the form does not start from it. */
    readonly replaced: Deployment | null;
  };
  readonly basic: { readonly operation?: string };
  readonly entry: VariablesEntry;
  readonly omitted: readonly string[];
  readonly isToConfirm: boolean;
}

/**
 * Says from which deployment the form starts, or which one its run replaces. If the form was sent, an earlier deployment may have filled it
 * in.
 */
export function renderDeployedNotice({ deployed, undone, replaced, template }: RunFacts, isSent: boolean): Html | null {
  const baseline = deployed ?? replaced;
  if (!baseline) return null;
  const { instance, run, unrecordedRunId } = baseline;
  const link = html`<a class="foreign" href="${pagePath(pages.instance, { id: instance.id })}">${instance.name}</a>`;
  const unrecorded = unrecordedRunId
    ? html` Not everything is recorded since ${renderRunLink(unrecordedRunId)}, so what exists may differ.`
    : null;
  if (deployed)
    return html`<div class="notice">${renderIcon('info')}<div class="stack"><p>${isSent ? 'This form is compared with' : 'Filled in from'} the last successful deployment: ${link} has version ${run.template_version}, by ${renderRunLink(run.id)}. Nothing starts until you press Run.${unrecorded}</p>${undone ? html`<p>Where ${renderRunLink(undone.run_id)} changed a value, the form has the one before it. Enter secrets yourself.</p>` : null}</div></div>`;
  const start = pagePath(
    pages.newRun,
    { id: template.id },
    { instance: instance.name, environment_id: baseline.environmentId ?? undefined, from_instance: instance.id },
  );
  return html`<div class="notice">${renderIcon('triangle-alert')}<div class="stack"><p>${link} is deployed there already: version ${run.template_version}, by ${renderRunLink(run.id)}. A run changes it, and a variable that you leave empty loses its deployed value.${unrecorded}</p>
<p><a class="button button-small" href="${start}">Start from what is deployed</a></p></div></div>`;
}

/** The deployed value of each variable, and how the form changes it. It is shown at the field. */
export function compareFields(form: ComparedForm): ReadonlyMap<string, Html> {
  const found = findFormDifferences(form);
  if (!found) return new Map();
  const differenceOf = new Map(found.differences.map((each) => [each.variable, each]));
  return new Map(
    form.facts.root.members.flatMap(({ name }): [string, Html][] => {
      const difference = differenceOf.get(name);
      const comparison = difference
        ? html`<strong>Changes:</strong> ${difference.kind === 'rotated' ? difference.giver : renderDifference(difference, found)}`
        : renderDeployed(found.baseline, name);
      return comparison ? [[slots.member('', name), comparison]] : [];
    }),
  );
}

/**
 * Which deployed secrets must be entered now, or must be if something else changes. Without these notes, their labels would say "optional".
 */
export function findRequirementNotes(form: ComparedForm): ReadonlyMap<string, string> {
  const found = findFormDifferences(form);
  if (!found || !form.facts.deployed) return new Map();
  const { facts, omitted } = form;
  const kept = (facts.secretsOfOthers ?? []).filter(
    (name) => found.baseline.secrets.includes(name) && !omitted.includes(name),
  );
  const asked = found.differences.filter(({ kind }) => kind === 'asked').map(({ variable }) => variable);
  return new Map([
    ...kept.map((name) => [slots.member('', name), 'needed if anything else changes'] as const),
    ...asked.map((name) => [slots.member('', name), ''] as const),
  ]);
}

/** The deployed value of a variable. For a deployed secret, null: its field itself says what happens if it is left empty. */
export function renderDeployed({ values, secrets }: Pick<Deployment, 'values' | 'secrets'>, name: string): Html | null {
  if (secrets.includes(name)) return null;
  if (!Object.hasOwn(values, name)) return html`Not set in the deployment.`;
  return html`Deployed: <code class="foreign">${shorten(values[name] ?? null)}</code>`;
}

/** The notice above a form that is shown again, because nobody may change a deployment without having seen the differences. */
export function renderUnconfirmed(what: Html | null = null, more: Html | null = null): Html {
  const check = html`Check <a href="#differences">what the run changes</a>, then confirm it at the end of the form.`;
  return html`<div class="notice" role="status" tabindex="-1" data-focus>${renderIcon('info')}<div class="stack"><p>Nothing has started yet. ${what ?? check}</p>${more}</div></div>`;
}

/** The differences between the form and the deployment. */
export function renderDifferences(form: ComparedForm): Html | null {
  const found = findFormDifferences(form);
  if (!found) return null;
  const { baseline, version, differences, isUnreadable } = found;
  const rows = differences.map(
    (each) => html`<li><code class="foreign">${each.variable}</code> ${renderDifference(each, found)}</li>`,
  );
  return html`<section class="panel form-part" aria-labelledby="differences"><h2 id="differences" tabindex="-1">Changes to what is deployed</h2>
<input type="hidden" name="compared" value="${markDifferences(found, differences)}">
${renderVersions(baseline, version)}
${isUnreadable ? html`<p>The variables are not valid JSON, so they cannot be compared yet.</p>` : rows.length > 0 ? html`<ul class="stack">${rows}</ul>` : html`<p>${form.isToConfirm ? 'Every variable stays as it is.' : 'The form as it was loaded changes no variable.'}</p>`}
<p class="muted">What you change in the form from here on is compared before anything starts.</p></section>`;
}

/** The differences; null if the form's run does not change the variables of a deployment. */
function findFormDifferences({ facts, entry, omitted, basic }: ComparedForm) {
  const baseline = facts.deployed ?? facts.replaced;
  if (!baseline || !facts.version || basic.operation === 'destroy') return null;
  const { values, problems } = readVariables(facts.root, entry);
  const unread = problems.map(({ pointer }) => splitPointer(pointer)[0]);
  const named = unread.filter((name) => name !== undefined);
  const differences = markUnread(baseline, findDifferences(facts, baseline, { values, omitted }), named);
  return {
    baseline,
    version: facts.version.version,
    differences,
    isUnreadable: named.length < unread.length,
  };
}

function renderVersions({ version: from, instance }: Deployment, version: string): Html {
  const of = instance ? html` of <span class="foreign">${instance.name}</span>` : null;
  return version === from
    ? html`<p>The version${of} stays ${from}.</p>`
    : html`<p>The version${of} changes from ${from} to <strong>${version}</strong>.</p>`;
}

function renderDifference({ kind, before, after, giver }: Difference, { version }: { readonly version: string }): Html {
  const old = before === null ? html`<span class="muted">not set</span>` : html`<code class="foreign">${before}</code>`;
  const now = after === null ? null : html`<code class="foreign">${after}</code>`;
  if (kind === 'changed') return html`${old} → ${now}`;
  if (kind === 'missing') return html`${old} → <strong>missing</strong>`;
  if (kind === 'rotated') return html`changed; <span class="foreign">${giver}</span>`;
  const left = giver
    ? html`${now} <span class="muted foreign">(${giver})</span>`
    : html`<span class="muted">the default</span> ${now}`;
  if (kind === 'emptied' || kind === 'given') return html`${old} → ${left}`;
  if (kind === 'unread') return html`${old} → <strong>what you typed is not valid yet</strong>`;
  if (kind === 'asked') return html`${old} → <strong>has to be entered again</strong>`;
  if (kind === 'added')
    return html`<span class="badge">New in ${version}</span> ${giver ? left : now === null ? html`<span class="muted">not set</span>` : html`default ${now}`}`;
  if (kind === 'dropped')
    return html`<span class="badge">Not in ${version}</span> ${before === null ? null : html`its value ${old} is dropped`}`;
  return html`<span class="badge">Changed in ${version}</span> ${before === null ? null : html`keeps ${old}, if that is still valid`}`;
}
