import type { FastifyReply } from 'fastify';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { isSignedIn } from '#api/web/visit/signed-in.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { invalidField, WrongSecret } from '#domain/shared/errors.ts';
import { redeemToken } from '../email-operations.ts';

const title = 'Confirm your address';
const script = 'link-token.js';

/** Adds the page to which the link in a mail leads that confirms a user's address. The token comes behind `#`, as that of an invitation. */
export function registerEmailConfirmation(addPage: AddPage): void {
  addPage('GET', pages.confirmOwnEmail, showConfirmation, { isPublic: true });
  addPage('POST', pages.confirmOwnEmail, submitConfirmation);
}

function showConfirmation(visit: Visit): Promise<FastifyReply> {
  return isSignedIn(visit.request) ? showForm(visit, null) : showSignIn(visit);
}

function showSignIn(visit: Visit): Promise<FastifyReply> {
  return visit.show({
    title,
    isBare: true,
    scripts: [script],
    main: html`<section class="card" aria-labelledby="title">
<h1 id="title">${title}</h1>
<p>Sign in first, as the person whose address it is.</p>
<a class="button button-primary" href="${pagePath(pages.login, {}, { next: pagePath(pages.confirmOwnEmail) })}">Sign in</a>
</section>`,
  });
}

function showForm(visit: Visit, problems: FormProblems | null): Promise<FastifyReply> {
  const form = renderForm({
    action: pagePath(pages.confirmOwnEmail),
    fields: [
      {
        name: 'token',
        label: 'Token',
        kind: 'password',
        maxLength: 200,
        hint: 'It stands at the end of the link in the mail.',
      },
    ],
    submit: 'Confirm address',
    cancel: pagePath(pages.profile),
    problems,
  });
  const page = {
    title,
    hasProblem: problems !== null,
    scripts: [script],
    main: html`<div class="page page-narrow">${renderPageHead({ title })}
<div class="panel stack"><p>You confirm that <strong class="foreign">${visit.principal.email ?? ''}</strong> is your address.</p>${form}</div></div>`,
  };
  return visit.show(page, problems?.status);
}

async function submitConfirmation(visit: Visit): Promise<FastifyReply> {
  const typed = visit.form('token');
  const submitted = await submit(visit, ['token'], () => confirmOrExplain(visit, typed.token.trim()));
  if (!submitted.done) return showForm(visit, submitted.problems);
  return visit.redirect(pagePath(pages.profile, {}, { done: 'confirmed' }));
}

/** A wrong token is a problem of the field: the person can correct it. */
async function confirmOrExplain(visit: Visit, token: string) {
  try {
    return await visit.run(redeemToken, { body: { token } });
  } catch (error) {
    if (!(error instanceof WrongSecret)) throw error;
    throw invalidField('token', 'does not confirm your address: it was used, has expired, or is for another address');
  }
}
