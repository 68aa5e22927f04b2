import { readHeldLead } from '#api/schedules/pages/held-schedules.ts';
import { keepAllowedTeams } from '#api/tenancy/pages/allowed-owners.ts';
import { personFields, readPersonId } from '#api/tenancy/pages/person-fields.ts';
import { platformRoleChoices } from '#api/tenancy/pages/roles.ts';
import { readTeamChoices } from '#api/tenancy/pages/team-choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { type FormPageDeclaration, formPage, type Typed } from '#api/web/forms/form-page.ts';
import { readChosenId, revisionField, toBody } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { create, disable, enable, remove, update } from '../operations.ts';
import { transfer } from '../transfer-operations.ts';
import { accountForm, accountPath, accountsCrumb, mayCreateAccount } from './account-frame.ts';

const nameField: FormField = { name: 'name', label: 'Name', hint: 'The program that uses it.' };

/** The field for the owner. The form sends it as one value: `me`, or the id of a team. */
async function ownerField(visit: Visit): Promise<FormField> {
  const teams = await keepAllowedTeams(visit, update, await readTeamChoices(visit));
  const mine = { value: 'me', label: 'Me: private, not visible to administrators' };
  return {
    name: 'owner',
    label: 'Owner',
    kind: 'select',
    ...teams,
    choices: [mine, ...teams.choices.map(({ value, label }) => ({ value, label: `Team ${label}` }))],
    value: visit.scope.teamId ?? 'me',
    hint: 'Owners of a team manage its accounts, which act in that team. A private account acts where you add it as a member.',
  };
}

function toOwner(visit: Visit, { owner }: Typed): Record<string, string> {
  if (owner === 'me') return { user_id: visit.principal.id };
  const team = readChosenId(visit, 'owner', owner);
  return team === null ? {} : { team_id: team };
}

const createForm: FormPageDeclaration<unknown, null> = {
  read: async () => null,
  describe: async (_subject, visit) => ({
    title: 'New service account',
    crumbs: [accountsCrumb],
    fields: [
      nameField,
      {
        name: 'role',
        label: 'Role',
        kind: 'radio',
        choices: platformRoleChoices(visit.principal.role),
        value: 'requester',
      },
      await ownerField(visit),
    ],
    submit: 'Create service account',
    cancel: pagePath(pages.serviceAccounts),
    refusal: mayCreateAccount(visit).reason,
  }),
  carryOut: async (_subject, typed, visit) => {
    const body = { name: typed['name'], role: typed['role'], owner: toOwner(visit, typed) };
    return accountPath(await visit.run(create, { body }), 'created');
  },
};

const editForm = accountForm(pages.editServiceAccount, 'update', {
  describe: (account, visit) => ({
    title: `Edit ${account.name}`,
    fields: [
      { ...nameField, value: account.name },
      {
        name: 'role',
        label: 'Role',
        kind: 'radio',
        choices: platformRoleChoices(visit.principal.role),
        value: account.role,
        hint: 'It also limits its role in its teams.',
      },
      revisionField(account),
    ],
    submit: 'Save changes',
  }),
  carryOut: async (account, typed, visit) => {
    await visit.run(update, { params: { id: account.id }, body: toBody(typed) });
    return accountPath(account, 'saved');
  },
});

const enableForm = accountForm(pages.enableServiceAccount, 'enable', {
  describe: (account) => ({
    title: `Enable ${account.name}`,
    lead: 'Its keys work again. Roles that it had before it was disabled are not restored.',
    submit: 'Enable',
  }),
  carryOut: async (account, _typed, visit) => {
    await visit.run(enable, { params: { id: account.id } });
    return accountPath(account, 'enabled');
  },
});

const disableForm = accountForm(pages.disableServiceAccount, 'disable', {
  describe: async (account, visit) => ({
    title: `Disable ${account.name}`,
    lead: await readHeldLead(
      visit,
      'Its keys stop working immediately. Runs that it started continue. You can enable it again later.',
      ['authority_id', account.id],
    ),
    submit: 'Disable',
    tone: 'danger',
  }),
  carryOut: async (account, _typed, visit) => {
    await visit.run(disable, { params: { id: account.id } });
    return accountPath(account, 'disabled');
  },
});

const deleteForm = accountForm(pages.deleteServiceAccount, 'delete', {
  describe: async (account, visit) => ({
    title: `Delete ${account.name}`,
    lead: await readHeldLead(
      visit,
      'The account, its keys and its memberships are deleted permanently. Runs that it started are kept, and so is its name in the audit.',
      ['authority_id', account.id],
    ),
    submit: 'Delete service account',
    tone: 'danger',
  }),
  carryOut: async (account, _typed, visit) => {
    await visit.run(remove, { params: { id: account.id } });
    return pagePath(pages.serviceAccounts, {}, { done: 'deleted' });
  },
});

const newOwner = { name: 'user_id', type: 'user', isOptional: true } as const;

const transferForm = accountForm(pages.transferServiceAccount, 'transfer', {
  describe: async (account, visit) => ({
    title: `Transfer ${account.name}`,
    lead: await readHeldLead(
      visit,
      html`<p>Its name, role and history are kept. <strong>All its keys are revoked</strong>, because another owner becomes responsible for it, and its memberships end.</p>`,
      ['authority_id', account.id],
    ),
    fields: [
      { ...(await ownerField(visit)), isOptional: true },
      ...(await personFields(visit, {
        ...newOwner,
        label: 'Or a different user',
        hint: 'The name or e-mail address of a person who shares an organization with you. It overrides the choice above.',
      })),
      revisionField(account),
    ],
    submit: 'Transfer',
    tone: 'danger',
  }),
  carryOut: async (account, typed, visit) => {
    const user = await readPersonId(visit, newOwner, typed);
    const owner = user === '' ? toOwner(visit, typed) : { user_id: user };
    await visit.run(transfer, { params: { id: account.id }, body: { owner } });
    const isStillSeen = 'team_id' in owner || owner['user_id'] === visit.principal.id;
    return isStillSeen ? accountPath(account, 'transferred') : pagePath(pages.serviceAccounts);
  },
});

/** The forms that make, change, enable, disable, transfer and delete service accounts. */
export const accountForms = [
  formPage(pages.newServiceAccount, createForm),
  editForm,
  enableForm,
  disableForm,
  deleteForm,
  transferForm,
];
