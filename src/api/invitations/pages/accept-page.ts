import type { FastifyReply } from 'fastify';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { isSignedIn } from '#api/web/visit/signed-in.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { invalidField, WrongSecret } from '#domain/shared/errors.ts';
import { accept } from '../operations.ts';

const script = 'link-token.js';
const title = 'Accept an invitation';

/**
 * Where the invited person accepts. The token comes behind `#` in the address, from which a script takes it into the form, or is pasted: it is
 * never part of a request's address.
 */
export function showAcceptance(visit: Visit): Promise<FastifyReply> {
  return isSignedIn(visit.request) ? showForm(visit, null) : showSignIn(visit);
}

/** The script keeps the token in this tab while the person signs in. */
function showSignIn(visit: Visit): Promise<FastifyReply> {
  const next = pagePath(pages.acceptInvitation);
  return visit.show({
    title,
    isBare: true,
    scripts: [script],
    main: html`<section class="card" aria-labelledby="title">
<h1 id="title">${title}</h1>
<p>Sign in first, as the person with the address that was invited. Without an account, ask an administrator for one.</p>
<a class="button button-primary" href="${pagePath(pages.login, {}, { next })}">Sign in</a>
</section>`,
  });
}

function showForm(visit: Visit, problems: FormProblems | null): Promise<FastifyReply> {
  const form = renderForm({
    action: pagePath(pages.acceptInvitation),
    fields: [
      {
        name: 'token',
        label: 'Token',
        kind: 'password',
        maxLength: 200,
        hint: 'It stands at the end of the link that you were given.',
      },
    ],
    submit: 'Accept invitation',
    cancel: pagePath(pages.home),
    problems,
  });
  const page = {
    title,
    hasProblem: problems !== null,
    scripts: [script],
    main: html`<div class="page page-narrow">${renderPageHead({ title })}
<div class="panel stack"><p>You join as <strong class="foreign">${visit.principal.name}</strong>, <span class="foreign">${visit.principal.email ?? ''}</span>. The
invitation must have been sent to this address. Others of the organization or team will see your name and address.</p>${form}</div></div>`,
  };
  return visit.show(page, problems?.status);
}

export async function submitAcceptance(visit: Visit): Promise<FastifyReply> {
  const typed = visit.form('token');
  const submitted = await submit(visit, ['token'], () => acceptOrExplain(visit, typed.token.trim()));
  if (!submitted.done) return showForm(visit, submitted.problems);
  const done = { done: 'joined' } as const;
  if (!submitted.result) return visit.redirect(pagePath(pages.organizations));
  const { organization_id: orgID, team_id: id } = submitted.result;
  return visit.redirect(
    id === null ? pagePath(pages.organization, { orgID }, done) : pagePath(pages.team, { orgID, id }, done),
  );
}

/** A wrong token is a problem of the field: the person can correct it. */
async function acceptOrExplain(visit: Visit, token: string) {
  try {
    return await visit.run(accept, { body: { token } });
  } catch (error) {
    if (!(error instanceof WrongSecret)) throw error;
    throw invalidField('token', 'is not that of an open invitation to your address');
  }
}
