import { showLevelSettings, submitLevelSettings } from '#api/tenancy/pages/levels/settings-page.ts';
import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showOrganizations } from './list-page.ts';
import { registerOrganizationForms } from './organization-forms.ts';
import { organizationLevel } from './organization-frame.ts';
import { showOrganizationTeams } from './organization-page.ts';

/** Adds the pages of organizations. Those of members and invitations belong to their own areas. */
export function registerOrganizationPages(addPage: AddPage): void {
  addPage('GET', pages.organizations, showOrganizations);
  addPage('GET', pages.organization, showOrganizationTeams);
  addPage('GET', pages.editOrganization, (visit) => showLevelSettings(organizationLevel, visit));
  addPage('POST', pages.editOrganization, (visit) => submitLevelSettings(organizationLevel, visit));
  registerOrganizationForms(addPage);
}
