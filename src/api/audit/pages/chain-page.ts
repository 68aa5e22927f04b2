import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { renderSummary } from '#api/web/forms/form.ts';
import { submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { problemKinds } from '#domain/audit/chain/verification.ts';
import { type VerificationView, verify } from '../chain-operations.ts';

type Verification = z.input<typeof VerificationView>;

const problems: Record<(typeof problemKinds)[number], string> = {
  records_changed: 'Records were modified',
  records_missing: 'Records are missing',
  records_added: 'Records were added',
  changes_hidden: 'Changes were marked as reads, which hides them from the list of changes',
  seal_changed: 'The seal was changed',
  seal_missing: 'The seal is missing',
  kept_seal_differs: 'The seal differs from the one that you kept',
};

/** Compares the audit with its seals, one part of the chain at a time. */
export async function showChain(visit: Visit): Promise<FastifyReply> {
  const query = Object.fromEntries(
    ['after', 'position', 'seal'].flatMap((name) => {
      const value = visit.query(name);
      return value ? [[name, value]] : [];
    }),
  );
  const read = await submit(visit, [], () => visit.read(verify, { query }));
  return visit.show(
    {
      title: 'Verify the audit',
      hasProblem: !read.done,
      main: html`<div class="page">
${renderPageHead({
  title: 'Verify the audit',
  crumbs: [{ label: 'Audit', path: pagePath(pages.audit) }],
  ...(read.done && { beside: renderVerdict(read.result) }),
  below:
    'Compares the records with the seals that a worker made of them, to find records that were changed outside of the service.',
})}
${read.done ? renderVerification(read.result) : renderSummary(read.problems, [])}
</div>`,
    },
    read.done ? 200 : read.problems.status,
  );
}

function renderVerdict({ valid, head }: Verification): Html {
  if (valid && head === null)
    return renderStatusBadge({ word: 'Nothing is sealed yet', icon: 'circle-dashed', tone: 'queued' });
  return valid
    ? renderStatusBadge({ word: 'Unchanged', icon: 'circle-check', tone: 'succeeded' })
    : renderStatusBadge({ word: 'Changed', icon: 'octagon-x', tone: 'failed' });
}

function renderVerification(verification: Verification): Html {
  const { seals, records, removed, unsealed, head, next_after: next } = verification;
  return html`<div class="panel">${renderFacts(
    [
      ['Unchanged records', `${records} under ${seals} ${seals === 1 ? 'seal' : 'seals'}`],
      ['Removed by retention', removed > 0 ? String(removed) : null],
      [
        'Not sealed yet',
        unsealed.since === null ? '0' : html`${unsealed.records}, since ${renderTime(unsealed.since)}`,
      ],
      ['Newest seal', head && html`${head.position}, up to ${renderTime(head.until)}`],
      ['Seal value', head && html`<code class="foreign">${head.seal}</code>`],
    ],
    { isWide: true },
  )}</div>
${verification.problems.length > 0 ? html`<div class="list-panel">${renderProblems(verification)}</div>` : null}
${head ? html`<p class="muted">Keep the position and value of the newest seal in another system. <code>GET /api/v1/audit/verify?position=…&amp;seal=…</code> later shows whether the end was cut off.</p>` : null}
${next === null ? null : html`<p><a class="button" href="${pagePath(pages.auditChain, {}, { after: String(next) })}">Verify the next part</a></p>`}`;
}

function renderProblems({ problems: found }: Verification): Html {
  return renderTable({
    caption: 'Differences from the seals',
    rows: found,
    columns: [
      { label: 'What', kind: 'main', cell: ({ kind }) => problems[kind] },
      { label: 'Seal', cell: ({ position }) => String(position) },
      { label: 'After', cell: ({ from }) => from && renderTime(from) },
      { label: 'Until', cell: ({ until }) => until && renderTime(until) },
      {
        label: 'Records',
        cell: ({ expected, found: now }) => (expected === null ? null : `${now} instead of ${expected}`),
      },
    ],
  });
}
