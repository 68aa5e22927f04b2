import { platformRoleChoices } from '#api/tenancy/pages/roles.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderSecret, secretScript } from '#api/web/components/secret.ts';
import { renderTime } from '#api/web/components/time.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField, toBody } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { confirm } from '../email-operations.ts';
import { remove, resetPassword } from '../user-administration-operations.ts';
import { create, update } from '../user-operations.ts';
import { type ShownUser, userCrumbs, userForm, userPath, usersCrumb } from './user-frame.ts';

function detailFields(visit: Visit, user?: ShownUser): FormField[] {
  return [
    { name: 'name', label: 'Name', value: user?.name },
    { name: 'email', label: 'E-mail address', kind: 'email', value: user?.email },
    {
      name: 'role',
      label: 'Platform role',
      kind: 'radio',
      hint: 'It limits what roles in organizations and teams allow this user.',
      choices: platformRoleChoices(visit.principal.role),
      value: user?.role ?? 'requester',
    },
  ];
}

const editingForm = userForm(pages.editUser, 'update', {
  describe: (user, visit) => {
    // Users cannot change their own role or state, so the form does not offer it.
    const mayChange = refusalOf(user.actions, 'change_role') === null;
    const mayEnd = refusalOf(user.actions, user.enabled ? 'disable' : 'enable') === null;
    const state: FormField = {
      name: 'enabled',
      label: 'State',
      kind: 'radio',
      value: String(user.enabled),
      choices: [
        { value: 'true', label: 'Enabled' },
        {
          value: 'false',
          label: 'Disabled',
          hint: 'Cannot sign in. All sessions end, and API keys do not work until the user is enabled again.',
        },
      ],
    };
    return {
      title: `Edit ${user.name}`,
      fields: [
        ...detailFields(visit, user).filter(({ name }) => name !== 'role' || mayChange),
        ...(mayEnd ? [state] : []),
        revisionField(user),
      ],
      submit: 'Save changes',
    };
  },
  carryOut: async (user, { enabled, ...typed }, visit) => {
    const body = { ...toBody(typed), ...(enabled && { enabled: enabled === 'true' }) };
    await visit.run(update, { params: { id: user.id }, body });
    return userPath(user, 'saved');
  },
});

const confirmationForm = userForm(pages.confirmEmail, 'confirm_email', {
  describe: (user) => ({
    title: `Confirm the address of ${user.name}`,
    lead: html`<p>Confirm <strong class="foreign">${user.email}</strong> only if you know that it belongs to this person: with a confirmed address, the user
accepts invitations that were sent to it.</p>`,
    fields: [{ name: 'email', label: 'E-mail address', kind: 'hidden', value: user.email }],
    submit: 'Confirm address',
  }),
  carryOut: async (user, typed, visit) => {
    await visit.run(confirm, { params: { id: user.id }, body: { email: typed['email'] } });
    return userPath(user, 'confirmed');
  },
});

/** The link is shown in the answer to the form, and never again. */
const passwordLinkForm = userForm(pages.makePasswordReset, 'reset_password', {
  describe: (user) => ({
    title: `Password link for ${user.name}`,
    lead: 'Anybody with the link can set a new password for this user. It works once, within 24 hours, and replaces any earlier link. Using it ends all sessions of the user.',
    submit: 'Create link',
  }),
  carryOut: async (user, _typed, visit) => {
    const { url, expires_at: until } = await visit.run(resetPassword, { params: { id: user.id } });
    const title = `Password link for ${user.name}`;
    return {
      title,
      scripts: [secretScript],
      main: html`<div class="page page-narrow">${renderPageHead({ title, crumbs: userCrumbs(user) })}
<div class="panel stack"><p>Give the link to <strong class="foreign">${user.name}</strong> only. It works once, until ${renderTime(until)}.</p>
${renderSecret({ id: 'link', label: 'Link', value: url })}
<div class="form-end"><a class="button button-primary" href="${userPath(user)}">Done</a></div></div></div>`,
    };
  },
});

const deletionForm = userForm(pages.deleteUser, 'delete', {
  describe: (user) => ({
    title: `Delete ${user.name}`,
    lead: html`<p>Sessions, API keys and memberships are deleted permanently, and the address becomes available again. Runs, reviews and comments are kept, with the name of this user.</p>
<p>You cannot delete a user who owns service accounts, is the only owner of an organization or a team, or is named in history that is kept. <a href="${pagePath(pages.editUser, { id: user.id })}">Disabling the user</a> also ends all access.</p>`,
    submit: 'Delete user',
    tone: 'danger',
  }),
  carryOut: async (user, _typed, visit) => {
    await visit.run(remove, { params: { id: user.id } });
    return pagePath(pages.users, {}, { done: 'deleted' });
  },
});

/** The forms with which administrators make, change and delete users. */
export const userForms = [
  formPage(pages.newUser, {
    read: async () => null,
    describe: (_subject, visit) => ({
      title: 'New user',
      crumbs: [usersCrumb],
      fields: [
        ...detailFields(visit),
        {
          name: 'password',
          label: 'Initial password',
          kind: 'password',
          autocomplete: 'new-password',
          hint: 'At least 8 characters, and not a common password. Give it to the person, or create a password link afterwards.',
        },
      ],
      submit: 'Create user',
      cancel: pagePath(pages.users),
      refusal: visit.mayDo(create).reason,
    }),
    carryOut: async (_subject, typed, visit) => {
      return userPath(
        await visit.run(create, { body: toBody({ ...typed, email: typed['email']?.trim() ?? '' }) }),
        'created',
      );
    },
  }),
  editingForm,
  confirmationForm,
  passwordLinkForm,
  deletionForm,
];
