import { list as listTeams } from '#api/teams/operations.ts';
import { type ArchivingForms, archivingForms } from '#api/tenancy/pages/archiving-forms.ts';
import { nameFields } from '#api/tenancy/pages/named-forms.ts';
import { personFields, readPersonId } from '#api/tenancy/pages/person-fields.ts';
import { renderBlockers } from '#api/tenancy/pages/views.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf, requireTypedName, revisionField, toBody, typedNameField } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { archive, create, remove, transfer, unarchive } from '../operations.ts';
import {
  type Organization,
  organizationCrumbs,
  organizationPath,
  organizationsCrumb,
  readOrganization,
} from './organization-frame.ts';

const archiving: ArchivingForms<{ orgID: string }, Organization> = {
  noun: 'organization',
  read: readOrganization,
  operations: { archive, unarchive, remove },
  params: ({ id }) => ({ orgID: id }),
  crumbs: organizationCrumbs,
  path: organizationPath,
  pathAfterDeletion: () => pagePath(pages.organizations, {}, { done: 'deleted' }),
  isNameTyped: true,
  archiving:
    'No run starts in an archived organization, and nothing in it can be changed or added. What is deployed stays deployed, and everything ' +
    'stays readable. Its name and slug stay taken. You can unarchive it later.',
  unarchiving:
    'Runs can start again, and everything in it can be changed. Teams that were archived separately stay archived.',
  deletion: async ({ id: orgID }, visit) => {
    const lists = await Promise.all(
      ['false', 'true'].map((archived) =>
        visit.read(listTeams, { params: { orgID }, query: { archived, limit: '200' } }),
      ),
    );
    const teams = lists.flatMap((page) => page.teams);
    return html`<p>The organization, its memberships and its open invitations are deleted permanently. Its name and slugs become available again. Records of finished runs, states and the audit are kept.</p>
${renderBlockers(
  'These teams must be deleted or transferred first:',
  teams.map(({ id, name }) => ({ label: name, path: pagePath(pages.team, { orgID, id }) })),
  lists.some((page) => page.next_cursor !== null),
)}`;
  },
};

const newOwner = { name: 'new_owner_user_id', type: 'user' } as const;

async function carryOutTransfer(organization: Organization, typed: Readonly<Record<string, string>>, visit: Visit) {
  visit.collect(() => requireTypedName(typed, organization.name));
  const userId = await readPersonId(visit, newOwner, typed);
  await visit.run(transfer, { params: { orgID: organization.id }, body: { new_owner_user_id: userId } });
  return organizationPath(organization, 'transferred');
}

/** The forms that make, archive, transfer and delete organizations. */
export const organizationForms = [
  formPage(pages.newOrganization, {
    read: async () => null,
    describe: (_subject, visit) => ({
      title: 'New organization',
      crumbs: [organizationsCrumb],
      lead: 'An organization contains teams. You become its owner.',
      fields: nameFields(),
      submit: 'Create organization',
      cancel: pagePath(pages.organizations),
      refusal: visit.mayDo(create).reason,
    }),
    carryOut: async (_subject, typed, visit) => {
      return organizationPath(await visit.run(create, { body: toBody(typed) }), 'created');
    },
  }),
  ...archivingForms(
    { archive: pages.archiveOrganization, unarchive: pages.unarchiveOrganization, remove: pages.deleteOrganization },
    archiving,
  ),
  formPage(pages.transferOrganization, {
    read: readOrganization,
    describe: async (organization, visit) => ({
      title: `Transfer ${organization.name}`,
      crumbs: organizationCrumbs(organization),
      lead: html`<p>The new owner has full control of the organization and its teams. If you are an owner, you become an admin: you cannot undo this yourself. Open invitations become void.</p>`,
      fields: [
        ...(await personFields(visit, {
          ...newOwner,
          label: 'New owner',
          hint: 'The name or e-mail address of a person who shares an organization with you.',
        })),
        typedNameField(organization.name),
        revisionField(organization),
      ],
      submit: 'Transfer organization',
      tone: 'danger',
      cancel: organizationPath(organization),
      refusal: refusalOf(organization.actions, 'transfer'),
    }),
    carryOut: (organization, typed, visit) => carryOutTransfer(organization, typed, visit),
  }),
];
