import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/run-link.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { readVariables, type VariablesEntry } from '#api/web/forms/schema/variables.ts';
import { shorten } from '#api/web/forms/schema/view/hints.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { type DeployedFacts, type Difference, differencesShown, findDifferences } from './deployed.ts';
import type { RunFacts } from './facts.ts';

/** From what the form starts. */
export function renderDeployedNotice({ deployed }: RunFacts): Html | null {
  if (!deployed) return null;
  const { instance, run } = deployed;
  const link = html`<a class="foreign" href="${pagePath(pages.instance, { id: instance.id })}">${instance.name}</a>`;
  return html`<div class="notice">${renderIcon('info')}<p>Filled in with what is deployed: ${link} has version ${run.template_version}, by ${renderRunLink(run.id)}. Nothing starts until you press Run.</p></div>`;
}

/** What is deployed of each variable, and what the form changes of it, to stand at its field. */
export function compareFields(facts: RunFacts, entry: VariablesEntry): ReadonlyMap<string, Html> {
  const { deployed, version, root } = facts;
  if (!deployed || !version) return new Map();
  const differences = findDifferences(deployed, root, readVariables(root, entry).values);
  const differenceOf = new Map(differences.map((each) => [each.variable, each]));
  return new Map(
    root.members.flatMap(({ name }): [string, Html][] => {
      const difference = differenceOf.get(name);
      const compared = difference
        ? html`<strong>Changes:</strong> ${renderDifference(difference, version.version)}`
        : renderDeployed(deployed, name);
      return compared ? [[slots.member('', name), compared]] : [];
    }),
  );
}

/** Of a secret that is deployed, the field itself says what happens if it is left empty. */
function renderDeployed({ values, secrets }: DeployedFacts, name: string): Html | null {
  if (secrets.includes(name)) return null;
  if (!Object.hasOwn(values, name)) return html`Not set in the deployment.`;
  return html`Deployed: <code class="foreign">${shorten(values[name] ?? null)}</code>`;
}

/** What the form asks for, compared with what is deployed. */
export function renderDifferences(facts: RunFacts, entry: VariablesEntry): Html | null {
  const { deployed, version, root } = facts;
  if (!deployed || !version) return null;
  const differences = findDifferences(deployed, root, readVariables(root, entry).values);
  const from = deployed.run.template_version;
  const versions =
    version.version === from
      ? html`<p>The version stays ${from}.</p>`
      : html`<p>The version changes from ${from} to <strong>${version.version}</strong>.</p>`;
  const rows = differences.map(
    (each) => html`<li><code class="foreign">${each.variable}</code> ${renderDifference(each, version.version)}</li>`,
  );
  return html`<section class="panel form-part" aria-labelledby="differences"><h2 id="differences" tabindex="-1">Changes to what is deployed</h2>
<input type="hidden" name="compared" value="${differencesShown(version.version, differences)}">
${versions}
${rows.length === 0 ? html`<p>Every variable stays as it is.</p>` : html`<ul class="stack">${rows}</ul>`}
${deployed.secrets.length > 0 ? html`<p class="muted">Secrets are not shown. One that you leave empty is kept if nothing else changes; otherwise enter it again.</p>` : null}</section>`;
}

function renderDifference({ kind, before, after }: Difference, version: string): Html {
  const old = before === null ? html`<span class="muted">not set</span>` : html`<code class="foreign">${before}</code>`;
  const now = after === null ? null : html`<code class="foreign">${after}</code>`;
  if (kind === 'changed') return html`${old} → ${now}`;
  if (kind === 'emptied') return html`${old} → <span class="muted">the default, or what the environment sets</span>`;
  if (kind === 'added')
    return html`<span class="badge">New in ${version}</span> ${now === null ? html`<span class="muted">not set</span>` : html`default ${now}`}`;
  if (kind === 'dropped')
    return html`<span class="badge">Not in ${version}</span> ${before === null ? null : html`its value ${old} is dropped`}`;
  return html`<span class="badge">Changed in ${version}</span> ${before === null ? null : html`keeps ${old}, if that is still valid`}`;
}
