import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

const pictured = { isPictured: true };

/** The pages of environments and projects. */
export function environmentPages({ environments, projects }: Installation): DeclaredPage[] {
  const production = { params: { id: environments.networkProduction.id } };
  const locked = { params: { id: environments.ledgerProduction.id } };
  const project = { params: { id: projects['ledger']?.id ?? '' }, who: 'maintainer' as const };
  const variable = { id: environments.networkProduction.id, name: 'AWS_SECRET_ACCESS_KEY' };
  return [
    declare('environments', pages.environments, pictured),
    declare('environments-empty', pages.environments, { who: 'nobody' }),
    declare('environment', pages.environment, { ...production, ...pictured }),
    declare('environment-protection', pages.environment, { ...production, query: { tab: 'protection' } }),
    declare('environment-locked', pages.environment, locked),
    declare('environment-frozen', pages.environment, { params: { id: environments.checkoutProduction.id } }),
    declare('environment-new', pages.newEnvironment, { who: 'owner' }),
    declare('environment-reviewers', pages.environmentReviewers, { ...production, who: 'owner' }),
    declare('environment-edit', pages.editEnvironment, { ...production, who: 'owner' }),
    declare('environment-lock', pages.lockEnvironment, production),
    declare('environment-unlock', pages.unlockEnvironment, { ...locked, who: 'maintainer' }),
    declare('environment-secrets-of-plans', pages.environment, {
      params: { id: environments.ledgerProduction.id },
      query: { tab: 'variables' },
    }),
    declare('environment-freeze-windows', pages.freezeWindows, { params: { id: environments.checkoutProduction.id } }),
    declare('environment-archive', pages.archiveEnvironment, { ...production, who: 'owner' }),
    declare('environment-unarchive', pages.unarchiveEnvironment, { ...production, who: 'owner' }),
    declare('environment-delete', pages.deleteEnvironment, { ...production, who: 'owner' }),
    declare('variable', pages.environmentVariable, { params: variable, who: 'owner' }),
    declare('variable-new', pages.newEnvironmentVariable, { ...production, who: 'owner' }),
    declare('variable-delete', pages.deleteEnvironmentVariable, { params: variable, who: 'owner' }),
    declare('projects', pages.projects),
    declare('projects-empty', pages.projects, { who: 'nobody' }),
    declare('project', pages.project, project),
    declare('project-new', pages.newProject, { who: 'maintainer' }),
    declare('project-edit', pages.editProject, project),
    declare('project-archive', pages.archiveProject, project),
    declare('project-unarchive', pages.unarchiveProject, project),
    declare('project-transfer', pages.transferProject, project),
    declare('project-delete', pages.deleteProject, project),
  ];
}

/** The pages of organizations, teams, their members and invitations. */
export function organizationPages({ organizations, teams, people, invitationToken }: Installation): DeclaredPage[] {
  const orgID = organizations.northwind.id;
  const owner = { params: { orgID }, who: 'owner' as const };
  const team = { params: { orgID, id: teams.payments.id }, who: 'maintainer' as const };
  const userID = people.requester.id;
  return [
    declare('organizations', pages.organizations),
    declare('organizations-empty', pages.organizations, { who: 'nobody' }),
    declare('organization', pages.organization, { ...owner, ...pictured }),
    declare('organization-new', pages.newOrganization, { who: 'owner' }),
    declare('organization-edit', pages.editOrganization, owner),
    declare('organization-archive', pages.archiveOrganization, owner),
    declare('organization-unarchive', pages.unarchiveOrganization, owner),
    declare('organization-transfer', pages.transferOrganization, owner),
    declare('organization-delete', pages.deleteOrganization, owner),
    declare('organization-members', pages.organizationMembers, owner),
    declare('organization-member', pages.organizationMember, { params: { orgID, userID }, who: 'owner' }),
    declare('organization-member-remove', pages.removeOrganizationMember, { params: { orgID, userID }, who: 'owner' }),
    declare('organization-invitations', pages.organizationInvitations, owner),
    declare('team', pages.team, { ...team, ...pictured }),
    declare('team-viewed', pages.team, { params: team.params, who: 'viewer' }),
    declare('team-new', pages.newTeam, owner),
    declare('team-edit', pages.editTeam, team),
    declare('team-archive', pages.archiveTeam, team),
    declare('team-unarchive', pages.unarchiveTeam, team),
    declare('team-transfer', pages.transferTeam, team),
    declare('team-delete', pages.deleteTeam, team),
    declare('team-reviewers', pages.teamReviewers, team),
    declare('team-setup', pages.setUpTeam, team),
    declare('team-setup-people', pages.setUpTeamPeople, team),
    declare('team-setup-people-viewed', pages.setUpTeamPeople, { params: team.params, who: 'viewer' }),
    declare('team-setup-project', pages.setUpTeamProject, team),
    declare('team-setup-environment', pages.setUpTeamEnvironment, team),
    declare('team-setup-policy', pages.setUpTeamPolicy, team),
    declare('team-setup-template', pages.setUpTeamTemplate, team),
    declare('team-members', pages.teamMembers, team),
    declare('team-member', pages.teamMember, { params: { ...team.params, userID }, who: 'maintainer' }),
    declare('team-member-remove', pages.removeTeamMember, { params: { ...team.params, userID }, who: 'maintainer' }),
    declare('team-invitations', pages.teamInvitations, team),
    declare('invitation', pages.acceptInvitation, { query: { token: invitationToken }, who: 'developer' }),
    declare('email-confirmation', pages.confirmOwnEmail, { who: 'developer' }),
    declare('invitation-unknown', pages.acceptInvitation, { query: { token: 'nobody-made-this' }, who: 'developer' }),
  ];
}
