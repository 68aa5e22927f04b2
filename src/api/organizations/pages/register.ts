import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showOrganizations } from './list-page.ts';
import { registerOrganizationForms } from './organization-forms.ts';
import { showOrganizationTeams, showSettings, submitSettings } from './organization-page.ts';

/** Adds the pages of organizations. Those of members and invitations belong to their own areas. */
export function registerOrganizationPages(addPage: AddPage): void {
  addPage('GET', pages.organizations, showOrganizations);
  addPage('GET', pages.organization, showOrganizationTeams);
  addPage('GET', pages.editOrganization, showSettings);
  addPage('POST', pages.editOrganization, submitSettings);
  registerOrganizationForms(addPage);
}
