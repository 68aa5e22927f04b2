import type { FastifyReply, FastifyRequest } from 'fastify';
import { canKeepSession, setSessionCookie } from '#api/edge/cookies.ts';
import { answerError } from '#api/edge/errors/error-answers.ts';
import { readSignInNotice } from '#api/settings/pages/sign-in-notice.ts';
import { page } from '#api/web/declarations/area.ts';
import { fieldProblems } from '#api/web/forms/read-form.ts';
import type { Page } from '#api/web/layout.ts';
import { toLocalPath } from '#api/web/local-path.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { formatDuration, toSentence } from '#api/web/text.ts';
import { isSignedIn } from '#api/web/visit/signed-in.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import type { Services } from '../../services.ts';
import { getSession, signIn, signOut } from '../session-operations.ts';
import { type SignInForm, signedInPage, signInPage, unencryptedPage } from './login-views.ts';

/** The sign-in form in place of a page, if the visitor's session has ended. It leads back to `next`. */
export async function signInAgainPage(
  services: Services,
  request: FastifyRequest,
  next: LocalPath | null,
): Promise<Page> {
  if (!canKeepSession(request, services.config)) return unencryptedPage();
  return signInPage({ next, hasEnded: true, notice: await readSignInNotice(services) });
}

async function showLogin(visit: Visit): Promise<FastifyReply> {
  const { request, context } = visit;
  const query = request.query as Readonly<Record<string, unknown>>;
  const next = toLocalPath(query['next']);
  if (isSignedIn(request)) {
    const session = await visit.read(getSession, { params: { id: 'current' } });
    return visit.show(signedInPage(request.principal, session.expires_at, next));
  }
  if (!canKeepSession(request, context.services.config)) return visit.show(unencryptedPage());
  return visit.show(signInPage({ next, status: statusOf(query), notice: await readSignInNotice(context.services) }));
}

function statusOf(query: Readonly<Record<string, unknown>>): string | null {
  if ('password_reset' in query) return 'Your new password is set. Sign in with it.';
  return 'signed_out' in query ? 'You are signed out.' : null;
}

async function submitLogin(visit: Visit): Promise<FastifyReply> {
  const { request, reply, context } = visit;
  const fields = visit.form('email', 'password', 'next');
  if (!canKeepSession(request, context.services.config)) return visit.show(unencryptedPage(), 403);
  const email = fields.email.trim();
  const next = toLocalPath(fields.next);
  const blank = findBlank(email, fields.password);
  const notice = await readSignInNotice(context.services);
  if (blank) return visit.show(signInPage({ email, next, fields: blank, notice }), 400);
  try {
    await visit.run(signIn, { body: { email, password: fields.password } });
  } catch (error) {
    const { status, headers } = answerError(error, request);
    const problem = explain(error, status, headers);
    if (!problem) throw error;
    reply.headers({ ...headers });
    return visit.show(signInPage({ email, next, notice, ...problem }), status);
  }
  return visit.redirect(next ?? pagePath(pages.home));
}

async function submitLogout(visit: Visit): Promise<FastifyReply> {
  const { request, reply, context } = visit;
  visit.form();
  try {
    if (isSignedIn(request)) await visit.run(signOut, { params: { id: 'current' } });
  } catch (error) {
    if (!hasSessionEnded(error)) throw error;
  }
  setSessionCookie(reply, context.services.config, null);
  return visit.redirect(pagePath(pages.login, {}, { signed_out: 'yes' }));
}

function findBlank(email: string, password: string): SignInForm['fields'] | undefined {
  const problems = {
    ...(email === '' && { email: 'Enter your e-mail address' }),
    ...(password === '' && { password: 'Enter your password' }),
  };
  return Object.keys(problems).length > 0 ? problems : undefined;
}

/** The messages for fields that the operation refuses. */
const fieldMessages: Readonly<Record<string, string>> = {
  email: 'Enter an e-mail address such as ana@example.com',
  password: 'A password has at most 1024 characters',
};

/** The messages of the form for an error that the visitor can correct there; undefined for any other error. */
function explain(
  error: unknown,
  status: number,
  headers: Readonly<Record<string, string>>,
): Pick<SignInForm, 'alert' | 'fields'> | undefined {
  if (status === 401 && error instanceof ServiceError) return { alert: `${toSentence(error.message)} Try again.` };
  if (status === 429) {
    const seconds = Number(headers['retry-after']);
    return { alert: `Too many attempts to sign in have failed. Try again in ${formatDuration(seconds)}.` };
  }
  const problems = fieldProblems(error, Object.keys(fieldMessages));
  if (!problems) return undefined;
  return { fields: Object.fromEntries(Object.keys(problems).map((name) => [name, fieldMessages[name]])) };
}

/** Whether signing out failed only because the session had ended already. */
function hasSessionEnded(error: unknown): boolean {
  return error instanceof ServiceError && (error.kind === 'notFound' || error.kind === 'unauthenticated');
}

/** The pages to sign in and out: two forms for the operations `auth.sign_in` and `auth.sign_out`. */
export const loginPages = [
  page('GET', pages.login, showLogin, { isPublic: true }),
  page('POST', pages.login, submitLogin, { isPublic: true }),
  page('POST', pages.logout, submitLogout, { isPublic: true }),
];
