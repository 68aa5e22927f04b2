import type { FastifyReply } from 'fastify';
import { submit } from '#api/web/forms/problems.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { create } from '../../comment-operations.ts';
import { showRunPage } from '../run-page.ts';
import type { RunVisit } from '../run-tab.ts';

/** Adds a comment to a run, and shows the run again. */
export async function submitComment(visit: RunVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  const typed = visit.form('text', 'tab');
  const sent = await submit(visit, ['text'], () => visit.run(create, { params: { id }, body: { text: typed.text } }));
  if (!sent.done)
    return showRunPage(visit, { status: sent.problems.status, comment: { problems: sent.problems, typed } });
  return visit.redirect(
    `${pagePath(pages.run, { id }, { tab: typed.tab || 'details', done: 'commented' })}#discussion`,
  );
}
