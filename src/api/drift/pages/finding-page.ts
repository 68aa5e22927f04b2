import type { FastifyReply } from 'fastify';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderInstanceLink, renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { renderPages } from '#api/web/components/table.ts';
import { renderAge, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { findLatestRemediation } from '#domain/drift/remediation/latest-store.ts';
import { listFindingEvidence } from '../finding-operations.ts';
import { describeWhole, renderDeviation, renderExpectation } from './deviation.ts';
import { reasonWords, renderFindingStatus } from './labels.ts';
import { driftCrumb, type FindingSubject, instanceOf, monitorPath, readFinding, titleOf } from './views.ts';

type FindingVisit = Visit<{ id: string }>;
type Remediation = NonNullable<Awaited<ReturnType<typeof findLatestRemediation>>>;

/** Shows a finding: the expected and the actual value, since when, and all evidence. */
export async function showFinding(visit: FindingVisit): Promise<FastifyReply> {
  const finding = await readFinding(visit);
  const { id } = finding;
  return visit.show({
    title: titleOf(finding),
    main: html`<div class="page page-wide">
${renderPageHead({
  title: titleOf(finding),
  crumbs: [driftCrumb, { label: instanceOf(finding), path: monitorPath(finding.monitor_id) }],
  beside: renderFindingStatus(finding.status),
  actions: renderFindingActions(finding),
  history: ['drift_findings', finding.id],
})}
${renderConfirmation(visit, pages.driftFinding)}
<section class="section" aria-labelledby="deviation"><div class="section-head"><h2 id="deviation">Expected and found</h2></div>
<div class="panel stack">${renderLatest(finding)}</div></section>
<div class="panel">${renderFindingFacts(finding, await findLatestRemediation(visit.em, id))}</div>
${await renderEvidence(visit)}
</div>`,
  });
}

function renderLatest(finding: FindingSubject): Html {
  const whole = describeWhole(finding);
  return html`${whole ? html`<p>${whole}</p>` : null}<div class="value-changes">${renderDeviation(finding.evidence, 20_000)}</div>${renderExpectation(finding.evidence)}`;
}

function renderFindingActions({ id, actions }: FindingSubject): Html {
  const params = { id };
  return renderActions(
    // For an open finding, the button that reopens it would only confuse.
    actions.filter(({ name, allowed }) => name !== 'reopen' || allowed),
    {
      remediate: {
        label: 'Remediate',
        icon: 'undo-2',
        tone: 'primary',
        path: pagePath(pages.remedyDriftFinding, params),
      },
      suppress: { label: 'Suppress', icon: 'eye-off', path: pagePath(pages.suppressDriftFinding, params) },
      reopen: { label: 'Reopen', icon: 'refresh-cw', path: pagePath(pages.reopenDriftFinding, params) },
    },
  );
}

/** Describes the run of a remediation. If it has succeeded, says that only the next scan shows its effect. */
function renderRemediation({ last_seen_at: seen, status }: FindingSubject, run: Remediation): Html {
  const isSeenSince = run.finishedAt === null || new Date(run.finishedAt) < new Date(seen);
  const isWaiting = status !== 'resolved' && run.status === 'succeeded' && !isSeenSince;
  return html`${renderRunLink(run.id)} ${renderRunStatus(run)}${isWaiting ? html` <span class="muted">The next scan shows whether it worked.</span>` : null}`;
}

function renderFindingFacts(finding: FindingSubject, remediation: Remediation | undefined): Html {
  const { suppression, evidence } = finding;
  return renderFacts(
    [
      ['Instance', renderInstanceLink(finding.instance_id, finding.names)],
      ['State', `${finding.status}: ${reasonWords[finding.reason]}`],
      [
        'Suppressed',
        suppression &&
          html`by <span class="foreign">${suppression.by}</span> until ${renderTime(suppression.until)}: <span class="foreign">${suppression.reason}</span>`,
      ],
      ['Reason for reopening', finding.reopen_reason && html`<span class="foreign">${finding.reopen_reason}</span>`],
      ['Last remediation', remediation ? renderRemediation(finding, remediation) : null],
      ['First seen', renderTime(finding.first_seen_at)],
      ['Last seen', html`${renderTime(finding.last_seen_at)} by ${renderRunLink(finding.last_run_id)}`],
      ['Seen by', finding.seen_count === 1 ? 'one scan' : `${finding.seen_count} scans`],
      ['State serial', `#${evidence.state_serial}`],
      ['Template version', evidence.template_version],
      ['Tool', evidence.tool && `${evidence.tool.name} ${evidence.tool.version}`],
      ['Held during the scan by', evidence.slot_held_by && renderRunLink(evidence.slot_held_by)],
    ],
    { isWide: true },
  );
}

async function renderEvidence(visit: FindingVisit): Promise<Html> {
  const cursor = visit.query('cursor');
  const { evidence, next_cursor: next } = await visit.read(listFindingEvidence, {
    params: visit.params,
    query: { cursor, limit: '20' },
  });
  return html`<section class="section" aria-labelledby="evidence"><div class="section-head"><h2 id="evidence">Evidence</h2><p class="muted">What scans found, newest first.</p></div>
<div class="panel"><ul class="rows">${evidence.map(
    (each) =>
      html`<li class="row drift-row"><div class="row-text"><p class="row-title">${renderAge(each.observed_at)} · ${renderRunLink(each.run_id)}</p><div class="value-changes">${renderDeviation(each, 500)}</div><p class="muted">State #${each.state_serial}, version ${each.template_version}</p></div></li>`,
  )}</ul></div>
${renderPages({ cursor, next }, (query) => pagePath(pages.driftFinding, visit.params, query))}</section>`;
}
