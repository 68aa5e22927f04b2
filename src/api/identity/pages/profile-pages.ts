import type { FastifyReply } from 'fastify';
import { answerError } from '#api/edge/errors/error-answers.ts';
import { readHeld, readHeldLead } from '#api/schedules/pages/held-schedules.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { page } from '#api/web/declarations/area.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { fieldProblems } from '#api/web/forms/read-form.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { formatDuration, toFieldProblem } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { ServiceError, WrongSecret } from '#domain/shared/errors.ts';
import { changeOwn } from '../password-operations.ts';
import {
  createApiKey,
  getApiKey,
  listApiKeys,
  regenerateApiKey,
  revokeApiKey,
  rotateApiKey,
} from '../profile-operations.ts';
import { listSessions, signOut } from '../session-operations.ts';
import { get as getUser, update as updateUser } from '../user-operations.ts';
import { issuedKeyPage, keyFields, overlapField, toKeyBody } from './keys.ts';
import { type Problems, profilePage } from './profile-views.ts';

const back = pagePath(pages.profile);
const crumbs: readonly Crumb[] = [{ label: 'Your profile', path: back }];
const shown = { title: 'New API key', crumbs, back };

function readKey(visit: Visit<{ id: string }>) {
  return visit.read(getApiKey, { params: { id: visit.params.id } });
}

/** Shows the profile. After a form was refused, `problems` has the messages of its fields and `typed` what was typed. */
async function showProfile(
  visit: Visit,
  {
    status = 200,
    problems = {},
    typed = {},
  }: { status?: number; problems?: Problems; typed?: Record<string, string> } = {},
): Promise<FastifyReply> {
  const [sessionPage, keyPage, user] = await Promise.all([
    visit.read(listSessions, { query: {} }),
    visit.read(listApiKeys, { query: {} }),
    visit.read(getUser, { params: { id: visit.principal.id } }),
  ]);
  const credentials = [...sessionPage.sessions, ...keyPage.api_keys].map(({ id }) => id);
  const held = await readHeld(visit, 'credential_id', credentials);
  const confirmation = renderConfirmation(visit, pages.profile);
  const sessions = { items: sessionPage.sessions, areAll: sessionPage.next_cursor === null };
  const keys = { items: keyPage.api_keys, areAll: keyPage.next_cursor === null };
  return visit.show(profilePage({ user, sessions, keys, held, confirmation, problems, typed }), status);
}

function submitDetails(visit: Visit): Promise<FastifyReply> {
  const typed = visit.form('name', 'email');
  const body = { name: typed.name, email: typed.email.trim() };
  return submit(visit, { typed, done: 'details' }, () =>
    visit.run(updateUser, { params: { id: visit.principal.id }, body }),
  );
}

function submitPassword(visit: Visit): Promise<FastifyReply> {
  const names = ['current_password', 'new_password', 'confirm_password', 'revoke_api_keys'] as const;
  const { revoke_api_keys: choice, ...passwords } = visit.form(...names);
  const body = { ...passwords, revoke_api_keys: isYes(choice) };
  return submit(visit, { typed: {}, done: 'password' }, () => visit.run(changeOwn, { body }));
}

/** Runs the operation of a form, and shows the profile with a message of success or with the problems at their fields. */
async function submit(
  visit: Visit,
  { typed, done }: { typed: Record<string, string>; done: ConfirmationOf<typeof pages.profile> },
  work: () => Promise<unknown>,
): Promise<FastifyReply> {
  try {
    await work();
  } catch (error) {
    const { status, headers } = answerError(error, visit.request);
    const problems = explain(error, status, headers);
    if (!problems) throw error;
    visit.reply.headers({ ...headers });
    return showProfile(visit, { status, problems, typed });
  }
  return visit.redirect(pagePath(pages.profile, {}, { done }));
}

/** The problems of fields for an error that the user can correct in the form; undefined for any other error. */
function explain(error: unknown, status: number, headers: Readonly<Record<string, string>>): Problems | undefined {
  if (error instanceof WrongSecret) return { current_password: 'This is not your password.' };
  if (status === 409 && error instanceof ServiceError) return { email: 'Another user has this address.' };
  if (status === 429) {
    const wait = formatDuration(Number(headers['retry-after']));
    return { current_password: `Too many attempts have failed. Try again in ${wait}.` };
  }
  const names = ['name', 'email', 'current_password', 'new_password', 'confirm_password'];
  const problems = fieldProblems(error, names);
  return problems && Object.fromEntries(Object.entries(problems).map(([name, text]) => [name, toFieldProblem(text)]));
}

/** Ends a session or revokes a key. It also succeeds if that has already happened, perhaps in another window. */
async function submitRevocation(
  visit: Visit<{ id: string }>,
  operation: typeof signOut | typeof revokeApiKey,
): Promise<FastifyReply> {
  visit.form();
  const { id } = visit.params;
  try {
    await visit.run(operation, { params: { id } });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'notFound') throw error;
  }
  if (id === visit.principal.credential.id) return visit.redirect(pagePath(pages.login, {}, { signed_out: 'yes' }));
  return visit.redirect(pagePath(pages.profile, {}, { done: operation === signOut ? 'session' : 'api-key' }));
}

/** The forms for a user's own keys. A new key is shown in the answer to its form, and never again. */
const profileKeyForms = [
  formPage(pages.profileApiKeys, {
    read: async () => null,
    describe: (_subject, visit) => ({
      title: 'New API key',
      crumbs,
      lead: 'The key has all of your permissions. Use a service account for programs of a team.',
      fields: keyFields,
      submit: 'Create key',
      cancel: back,
      refusal: visit.mayDo(createApiKey).reason,
    }),
    carryOut: async (_subject, typed, visit) =>
      issuedKeyPage(await visit.run(createApiKey, { body: toKeyBody(visit, typed) }), shown),
  }),
  formPage(pages.rotateApiKey, {
    read: readKey,
    describe: async ({ id, name, kind, actions }, visit) => ({
      title: `Rotate ${name}`,
      crumbs,
      lead: await readHeldLead(
        visit,
        kind === 'profile'
          ? 'A new key replaces this one, which is revoked immediately. The new key is shown once.'
          : 'A new key with the same name and lifetime replaces this one. It is shown once.',
        ['credential_id', id],
      ),
      fields: kind === 'profile' ? [] : [overlapField],
      submit: 'Rotate key',
      cancel: back,
      refusal: kind === 'profile' ? visit.mayDo(regenerateApiKey).reason : refusalOf(actions, 'rotate'),
    }),
    carryOut: async ({ id, kind }, typed, visit) => {
      // A user has one profile key, which is regenerated in place.
      if (kind === 'profile') return issuedKeyPage(await visit.run(regenerateApiKey), shown);
      const body = { overlap: typed['overlap'] };
      return issuedKeyPage(await visit.run(rotateApiKey, { params: { id }, body }), shown);
    },
  }),
];

/** The profile page: a user's details, password, sessions and keys. (specification, *Users and profile*) */
export const profilePages = [
  page('GET', pages.profile, (visit) => showProfile(visit)),
  page('POST', pages.profile, submitDetails),
  page('POST', pages.profilePassword, submitPassword),
  page('POST', pages.revokeSession, (visit) => submitRevocation(visit, signOut)),
  page('POST', pages.revokeApiKey, (visit) => submitRevocation(visit, revokeApiKey)),
  ...profileKeyForms,
];
