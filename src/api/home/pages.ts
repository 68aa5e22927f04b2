import { renderPageHead } from '#api/web/components/page-head.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { isSignedIn } from '#api/web/visit/signed-in.ts';

/** Adds the start page: what runs, what waits, what failed lately. Visitors who are not signed in get the sign-in page. */
export function registerStart(addPage: AddPage): void {
  addPage('GET', pages.home, async (visit) => {
    if (!isSignedIn(visit.request)) return visit.redirect(pagePath(pages.login));
    return visit.show({ title: 'Start', main: html`<div class="page">${renderPageHead({ title: 'Start' })}</div>` });
  });
}
