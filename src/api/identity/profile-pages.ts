import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerError } from '#api/edge/errors/error-answers.ts';
import { fieldProblems, readForm } from '#api/web/forms.ts';
import { seeOther, sendPage } from '#api/web/layout.ts';
import { type PageContext, readForPage, runForPage } from '#api/web/page-operations.ts';
import type { AddPage } from '#api/web/page-route.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { formatDuration, toFieldProblem } from '#api/web/text.ts';
import { ServiceError, WrongSecret } from '#domain/shared/errors.ts';
import { changeOwn } from './password-operations.ts';
import { listApiKeys, revokeApiKey } from './profile-operations.ts';
import { type Problems, type ProfileNews, profileNews, profilePage } from './profile-views.ts';
import { listSessions, signOut } from './session-operations.ts';
import { get as getUser, update as updateUser } from './user-operations.ts';

/** Adds the profile page: a user's details, password, sessions and keys. (specification, *Users and profile*) */
export function registerProfile(addPage: AddPage, context: PageContext): void {
  addPage(`GET ${pages.profile}`, (request, reply) => showProfile(context, request, reply));
  addPage(`POST ${pages.profile}`, (request, reply) => submitDetails(context, request, reply));
  addPage(`POST ${pages.profilePassword}`, (request, reply) => submitPassword(context, request, reply));
  addPage(`POST ${pages.revokeSession}`, (request, reply) => submitRevocation(context, request, reply, signOut));
  addPage(`POST ${pages.revokeApiKey}`, (request, reply) => submitRevocation(context, request, reply, revokeApiKey));
}

/** Shows the profile. After a form was refused, `problems` has the messages of its fields and `typed` what was typed. */
async function showProfile(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    status = 200,
    problems = {},
    typed = {},
  }: { status?: number; problems?: Problems; typed?: Record<string, string> } = {},
): Promise<FastifyReply> {
  const [sessionPage, keyPage, user] = await Promise.all([
    readForPage(context, request, listSessions, { query: {} }),
    readForPage(context, request, listApiKeys, { query: {} }),
    readForPage(context, request, getUser, { params: { id: request.principal.id } }),
  ]);
  const { done } = request.query as Readonly<Record<string, unknown>>;
  const news = typeof done === 'string' && Object.hasOwn(profileNews, done) ? (done as ProfileNews) : null;
  const sessions = { items: sessionPage.sessions, areAll: sessionPage.next_cursor === null };
  const keys = { items: keyPage.api_keys, areAll: keyPage.next_cursor === null };
  return sendPage(reply, status, profilePage({ user, sessions, keys, news, problems, typed }));
}

async function submitDetails(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const typed = readForm(request.body, ['name', 'email']);
  const body = { name: typed.name, email: typed.email.trim() };
  return submit(context, request, reply, { typed, done: 'details' }, () =>
    runForPage(context, request, reply, updateUser, { params: { id: request.principal.id }, body }),
  );
}

async function submitPassword(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const names = ['current_password', 'new_password', 'confirm_password', 'revoke_api_keys'] as const;
  const { revoke_api_keys: choice, ...passwords } = readForm(request.body, names);
  const body = { ...passwords, revoke_api_keys: choice === 'yes' };
  return submit(context, request, reply, { typed: {}, done: 'password' }, () =>
    runForPage(context, request, reply, changeOwn, { body }),
  );
}

/** Runs the operation of a form, and shows the profile with a message of success or with the problems at their fields. */
async function submit(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { typed, done }: { typed: Record<string, string>; done: ProfileNews },
  work: () => Promise<unknown>,
): Promise<FastifyReply> {
  try {
    await work();
  } catch (error) {
    const { status, headers } = answerError(error, request);
    const problems = explain(error, status, headers);
    if (!problems) throw error;
    return showProfile(context, request, reply.headers({ ...headers }), { status, problems, typed });
  }
  return seeOther(reply, pagePath(pages.profile, {}, { done }));
}

/** The problems of fields for an error that the user can correct in the form; undefined for any other error. */
function explain(error: unknown, status: number, headers: Readonly<Record<string, string>>): Problems | undefined {
  if (error instanceof WrongSecret) return { current_password: 'This is not your password.' };
  if (status === 409 && error instanceof ServiceError) return { email: 'Somebody else has this address.' };
  if (status === 429) {
    const wait = formatDuration(Number(headers['retry-after']));
    return { current_password: `Too many attempts have failed. Try again in ${wait}.` };
  }
  const names = ['name', 'email', 'current_password', 'new_password', 'confirm_password'];
  const problems = fieldProblems(error, names);
  return problems && Object.fromEntries(Object.entries(problems).map(([name, text]) => [name, toFieldProblem(text)]));
}

/** Ends a session or revokes a key. One that has ended already, perhaps from another window, counts as ended now. */
async function submitRevocation(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: typeof signOut | typeof revokeApiKey,
): Promise<FastifyReply> {
  readForm(request.body, []);
  const { id } = request.params as { id: string };
  try {
    await runForPage(context, request, reply, operation, { params: { id } });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'notFound') throw error;
  }
  if (id === request.principal.credential.id) return seeOther(reply, pagePath(pages.login, {}, { signed_out: 'yes' }));
  return seeOther(reply, pagePath(pages.profile, {}, { done: operation === signOut ? 'session' : 'api-key' }));
}
