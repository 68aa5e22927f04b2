import type { FastifyReply } from 'fastify';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { toLocalPath } from '#api/web/local-path.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { reviewingTakesRole } from '#domain/runs/approval/rules.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { showRunPage } from '../run-page.ts';
import type { RunVisit } from '../run-tab.ts';
import { type ReviewLink, readReviewLink } from './review-link.ts';

/**
 * Shows a run. A person who may not see it, but follows a link that asks them to review it, learns who asked and for which team. They learn
 * nothing about the run.
 */
export async function showRunOrReviewLink(visit: RunVisit): Promise<FastifyReply> {
  try {
    return await showRunPage(visit);
  } catch (error) {
    const link = error instanceof NotFound ? await readReviewLink(visit) : null;
    if (!link) throw error;
    return visit.show(reviewLinkPage(visit, link), 404);
  }
}

function reviewLinkPage({ request }: RunVisit, { team, requester }: ReviewLink): Page {
  const title = 'You need access for this review';
  return {
    title,
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs: [{ label: 'Approvals', path: pagePath(pages.approvals) }] })}
<div class="panel stack">
<p><strong class="foreign">${requester}</strong> asks you to review a run of the team <strong class="foreign">${team}</strong>. You may not see the runs of this team.</p>
<p>Ask an owner or an administrator of the team to add you. ${toSentence(reviewingTakesRole)} After that, this link leads to the run.</p>
<div class="form-end"><a class="button button-primary" href="${toLocalPath(request.url) ?? pagePath(pages.home)}">Try again</a></div>
</div>
</div>`,
  };
}
