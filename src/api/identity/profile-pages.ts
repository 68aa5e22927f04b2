import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerError } from '#api/edge/errors/error-answers.ts';
import { fieldProblems, readForm } from '#api/web/forms.ts';
import { seeOther, sendPage } from '#api/web/layout.ts';
import { type AddPage, loginPath } from '#api/web/page-route.ts';
import { type Ground, performCommand, performRead } from '#api/web/perform.ts';
import { inWords, withoutSubject } from '#api/web/words.ts';
import { ServiceError, WrongSecret } from '#domain/shared/errors.ts';
import { changeOwn } from './password-operations.ts';
import { listApiKeys, revokeApiKey } from './profile-operations.ts';
import { type Problems, type ProfileNews, profileNews, profilePage } from './profile-views.ts';
import { listSessions, signOut } from './session-operations.ts';
import { get as getUser, update as updateUser } from './user-operations.ts';

export const profilePath = '/profile';

/** Who somebody is here, their password, their sessions and keys. (specification, *Users and profile*) */
export function registerProfile(addPage: AddPage, ground: Ground): void {
  addPage('GET /profile', (request, reply) => showProfile(ground, request, reply));
  addPage('POST /profile', (request, reply) => submitDetails(ground, request, reply));
  addPage('POST /profile/password', (request, reply) => submitPassword(ground, request, reply));
  addPage('POST /profile/sessions/:id/revoke', (request, reply) => submitRevocation(ground, request, reply, signOut));
  addPage('POST /profile/api-keys/:id/revoke', (request, reply) =>
    submitRevocation(ground, request, reply, revokeApiKey),
  );
}

/** `problems`: what was wrong with a form that was sent, whose fields are then shown as they were typed. */
async function showProfile(
  ground: Ground,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    status = 200,
    problems = {},
    typed = {},
  }: { status?: number; problems?: Problems; typed?: Record<string, string> } = {},
): Promise<FastifyReply> {
  const [sessionPage, keyPage, user] = await Promise.all([
    performRead(ground, request, listSessions, { query: {} }),
    performRead(ground, request, listApiKeys, { query: {} }),
    performRead(ground, request, getUser, { params: { id: request.principal.id } }),
  ]);
  const { done } = request.query as Readonly<Record<string, unknown>>;
  const news = typeof done === 'string' && Object.hasOwn(profileNews, done) ? (done as ProfileNews) : null;
  const sessions = { items: sessionPage.sessions, areAll: sessionPage.next_cursor === null };
  const keys = { items: keyPage.api_keys, areAll: keyPage.next_cursor === null };
  return sendPage(reply, status, profilePage({ user, sessions, keys, news, problems, typed }));
}

async function submitDetails(ground: Ground, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const typed = readForm(request.body, ['name', 'email']);
  const body = { name: typed.name, email: typed.email.trim() };
  return submit(ground, request, reply, { typed, done: 'details' }, () =>
    performCommand(ground, request, reply, updateUser, { params: { id: request.principal.id }, body }),
  );
}

async function submitPassword(ground: Ground, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const body = readForm(request.body, ['current_password', 'new_password', 'confirm_password']);
  return submit(ground, request, reply, { typed: {}, done: 'password' }, () =>
    performCommand(ground, request, reply, changeOwn, { body }),
  );
}

/** Does what a form asks, and shows the profile: with what has happened, or with what was wrong where it was wrong. */
async function submit(
  ground: Ground,
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
    return showProfile(ground, request, reply.headers({ ...headers }), { status, problems, typed });
  }
  return seeOther(reply, `${profilePath}?done=${done}`);
}

/** What the reader can put right on the form itself; undefined: nothing. */
function explain(error: unknown, status: number, headers: Readonly<Record<string, string>>): Problems | undefined {
  if (error instanceof WrongSecret) return { current_password: 'This is not your password.' };
  if (status === 409 && error instanceof ServiceError) return { email: 'Somebody else has this address.' };
  if (status === 429) {
    const wait = inWords(Number(headers['retry-after']));
    return { current_password: `Too many attempts have failed. Try again in ${wait}.` };
  }
  const names = ['name', 'email', 'current_password', 'new_password', 'confirm_password'];
  const problems = fieldProblems(error, names);
  return problems && Object.fromEntries(Object.entries(problems).map(([name, text]) => [name, withoutSubject(text)]));
}

/** Whatever has ended already, as another window may have ended it, is as good as ended now. */
async function submitRevocation(
  ground: Ground,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: typeof signOut | typeof revokeApiKey,
): Promise<FastifyReply> {
  readForm(request.body, []);
  const { id } = request.params as { id: string };
  try {
    await performCommand(ground, request, reply, operation, { params: { id } });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'notFound') throw error;
  }
  if (id === request.principal.credential.id) return seeOther(reply, `${loginPath}?signed_out=yes`);
  return seeOther(reply, `${profilePath}?done=${operation === signOut ? 'session' : 'api-key'}`);
}
