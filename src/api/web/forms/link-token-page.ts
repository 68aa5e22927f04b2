import type { FastifyReply } from 'fastify';
import { HiddenResource, invalidField, WrongSecret } from '#domain/shared/errors.ts';
import { renderPageHead } from '../components/page-head.ts';
import { type Html, html } from '../html.ts';
import { type LocalPath, type PagePattern, pagePath, pages } from '../paths.ts';
import { toFieldProblem } from '../text.ts';
import type { PageDeclaration } from '../visit/route.ts';
import { isSignedIn } from '../visit/signed-in.ts';
import type { Visit } from '../visit/visit.ts';
import { renderForm } from './form.ts';
import { type FormProblems, submit } from './problems.ts';

/** The page behind a one-time link for a person who has an account. */
export interface LinkTokenPage {
  readonly title: string;
  /** Says with which account the visitor must sign in. */
  readonly signIn: string;
  /** Says what the form does, to a visitor who is signed in. */
  readonly lead: (visit: Visit) => Html;
  /** Says where to find the token. */
  readonly hint: string;
  readonly submit: string;
  readonly cancel: LocalPath;
  /** Says, beside its field, why a token is refused. */
  readonly wrongToken: string;
  /** Uses the token, and returns the path to redirect to. */
  readonly carryOut: (visit: Visit, token: string) => Promise<LocalPath>;
}

const script = 'link-token.js';

/**
 * Declares such a page. The token is in the address behind `#`, or is pasted, so no request contains it in its address. A script moves it into
 * the form, and keeps it in this tab while the visitor signs in.
 */
export function linkTokenPage(pattern: PagePattern & LocalPath, page: LinkTokenPage): PageDeclaration {
  const form: PageForm = { ...page, path: pattern };
  const show = (visit: Visit) => (isSignedIn(visit.request) ? showForm(form, visit, null) : showSignIn(form, visit));
  return (addPage) => {
    addPage('GET', pattern, show, { isPublic: true });
    addPage('POST', pattern, (visit) => submitToken(form, visit));
  };
}

interface PageForm extends LinkTokenPage {
  readonly path: LocalPath;
}

function showSignIn({ title, signIn, path }: PageForm, visit: Visit): Promise<FastifyReply> {
  return visit.show({
    title,
    isBare: true,
    scripts: [script],
    main: html`<section class="card" aria-labelledby="title">
<h1 id="title">${title}</h1>
<p>${signIn}</p>
<a class="button button-primary" href="${pagePath(pages.login, {}, { next: path })}">Sign in</a>
</section>`,
  });
}

function showForm(page: PageForm, visit: Visit, problems: FormProblems | null): Promise<FastifyReply> {
  const { title, path: action, hint, submit: label, cancel, lead } = page;
  const token = { name: 'token', label: 'Token', kind: 'password', hint } as const;
  const form = renderForm({ action, fields: [token], submit: label, cancel, problems });
  const shown = {
    title,
    hasProblem: problems !== null,
    scripts: [script],
    main: html`<div class="page page-narrow">${renderPageHead({ title })}
<div class="panel stack"><p>${lead(visit)}</p>${form}</div></div>`,
  };
  return visit.show(shown, problems?.status);
}

async function submitToken(page: PageForm, visit: Visit): Promise<FastifyReply> {
  const { token } = visit.form('token');
  try {
    const submitted = await submit(visit, ['token'], () => carryOutOrExplain(page, visit, token.trim()));
    return submitted.done ? visit.redirect(submitted.result) : showForm(page, visit, submitted.problems);
  } catch (error) {
    if (!(error instanceof HiddenResource)) throw error;
    return showForm(page, visit, hiddenTokenProblems(page));
  }
}

/**
 * The problem for a token whose subject this visitor must not know about. It has the text of a wrong token, so that the two cannot be told
 * apart.
 */
function hiddenTokenProblems({ wrongToken }: PageForm): FormProblems {
  return { status: 404, fields: { token: toFieldProblem(wrongToken, 'token') }, others: [] };
}

/** Uses the token. A wrong token is a problem of its field, so that the visitor can correct it. */
async function carryOutOrExplain(page: PageForm, visit: Visit, token: string): Promise<LocalPath> {
  try {
    return await page.carryOut(visit, token);
  } catch (error) {
    if (!(error instanceof WrongSecret)) throw error;
    throw invalidField('token', page.wrongToken);
  }
}
