import type { FastifyReply } from 'fastify';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { operationPath } from '#api/pipeline/answers/location.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { showUnseen } from '#api/web/components/value-change/print.ts';
import { renderValueChanges } from '#api/web/components/value-change/value-changes.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { newEffort } from '#domain/shared/values/comparison/compare.ts';
import { compare } from '../comparison-operations.ts';
import { get as getInstance } from '../operations.ts';
import { download, get } from '../state-operations.ts';
import { findOpeningRefusal, formatSize } from './instance-parts.ts';

type Comparison = EncodedAnswerOf<typeof compare.responses>;
type Change = Comparison['changes'][number];

/** Shows one state version, without its content. */
export async function showStateVersion(visit: Visit<{ id: string; serial: string }>): Promise<FastifyReply> {
  const { id, serial } = visit.params;
  const [instance, version] = await Promise.all([
    visit.read(getInstance, { params: { id } }),
    visit.read(get, { params: { id, serial } }),
  ]);
  const title = `State version ${version.serial}`;
  const previous = version.serial > 1 ? String(version.serial - 1) : null;
  return visit.show({
    title,
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs: crumbsOf(id, instance.name) })}
<div class="panel stack">${renderFacts([
      ['Written by', version.run_id ? renderRunLink(version.run_id) : 'an import'],
      ['When', renderTime(version.created_at)],
      ['Resources', version.resource_count],
      ['Size', formatSize(version.size)],
      ['Digest', html`<code class="foreign">${version.digest}</code>`],
    ])}
${
  findOpeningRefusal(instance) ??
  html`<div class="actions"><a class="button button-plain" href="${operationPath(download, { id, serial })}" download>Download, secrets included</a>
${previous ? html`<a class="button button-plain" href="${pagePath(pages.compareStates, { id }, { from: previous, to: serial })}">Compare with the previous version</a>` : null}</div>`
}</div>
</div>`,
  });
}

/** Compares two state versions. If the address does not name both, redirects to the page that chooses them. */
export async function showComparison(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  const { id } = visit.params;
  const query = { from: visit.query('from'), to: visit.query('to') };
  if (!query.from || !query.to) return visit.redirect(pagePath(pages.instance, { id }, { tab: 'states' }));
  const [instance, comparison] = await Promise.all([
    visit.read(getInstance, { params: { id } }),
    visit.read(compare, { params: { id }, query }),
  ]);
  const title = `State ${comparison.from} and state ${comparison.to}`;
  return visit.show({
    title,
    main: html`<div class="page page-wide">
${renderPageHead({ title, crumbs: crumbsOf(id, instance.name), below: describe(comparison) })}
${
  comparison.changes.length > 0
    ? html`<div class="list-panel">${comparison.changes.map((change) => renderChange(change, comparison.changes.length <= fewChanges))}</div>`
    : html`<div class="list-panel">${renderEmpty('No resources differ', 'The two versions contain the same resources.')}</div>`
}
${renderOutputChanges(comparison)}
${comparison.omitted > 0 ? html`<p class="notice">${comparison.omitted} more resources differ. Download both states to compare all.</p>` : null}
</div>`,
  });
}

function crumbsOf(id: string, name: string) {
  return [
    { label: 'Instances', path: pagePath(pages.instances) },
    { label: name, path: pagePath(pages.instance, { id }, { tab: 'states' }) },
  ];
}

function describe({ changes, omitted, unchanged }: Comparison): string {
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length;
  const moved = count('move');
  const parts = [
    ...(['delete', 'update', 'create'] as const).map((action) => `${count(action)} ${words[action]}`),
    ...(moved > 0 ? [`${moved} ${words.move}`] : []),
    ...(omitted > 0 ? [`${omitted} more differ`] : []),
    `${unchanged} unchanged`,
  ];
  return parts.join(' · ');
}

/** Shows all changes in the answer. The operation has cut their values already. */
const shown = {
  maxCharacters: 5_000,
  maxDifferences: Number.POSITIVE_INFINITY,
  maxUnchanged: 0,
  whole: null,
};

/** The words are those of plans. */
const words: Readonly<Record<Change['action'], string>> = {
  create: 'add',
  update: 'change',
  delete: 'destroy',
  move: 'move',
};

/** Up to this number of changes, all of them are open. */
const fewChanges = 3;

/** The outputs that differ. Secret ones are masked, as on the instance's page. */
function renderOutputChanges({ outputs, omitted_outputs: omitted }: Comparison): Html {
  const changes = renderValueChanges(outputs, { ...shown, effort: newEffort() });
  return html`<section class="panel stack" aria-labelledby="outputs"><h2 id="outputs">Outputs</h2>
${changes ?? html`<p class="muted">No output differs.</p>`}
${omitted > 0 ? html`<p class="muted">${omitted} more values differ.</p>` : null}</section>`;
}

function renderChange(change: Change, isOpen: boolean): Html {
  const { address, action, previous_address: previous, attributes, omitted_attributes: omitted } = change;
  const from =
    previous === null
      ? null
      : html` <span class="muted">from</span> <span class="mono foreign">${showUnseen(previous)}</span>`;
  return html`<details class="difference" ${isOpen ? html`open` : null}><summary><span class="difference-word difference-${action}">${words[action]}</span> <span class="mono foreign">${showUnseen(address)}</span>${from}</summary>
${renderValueChanges(attributes, { ...shown, effort: newEffort() }) ?? html`<p class="muted">${previous === null ? 'No value differs, only sensitivity marks or unset attributes.' : 'No value differs.'}</p>`}
${omitted > 0 ? html`<p class="muted">${omitted} more values differ.</p>` : null}</details>`;
}
