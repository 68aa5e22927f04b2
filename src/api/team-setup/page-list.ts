import type { ConfirmationsOn } from '#api/web/declarations/page-list.ts';
import type { LocalPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  setUpTeam: '/organizations/:orgID/teams/:id/setup',
  setUpTeamPeople: '/organizations/:orgID/teams/:id/setup/people',
  setUpTeamProject: '/organizations/:orgID/teams/:id/setup/project',
  setUpTeamEnvironment: '/organizations/:orgID/teams/:id/setup/environment',
  setUpTeamPolicy: '/organizations/:orgID/teams/:id/setup/policy',
  setUpTeamTemplate: '/organizations/:orgID/teams/:id/setup/template',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.setUpTeamPeople]: {
    created: 'Team created. You are its owner.',
    'member-set': 'Membership saved. Add more people, or go on.',
  },
  [pages.setUpTeamEnvironment]: { 'project-created': 'Project created.' },
  [pages.setUpTeamPolicy]: {
    'environment-created': 'Environment created.',
    saved: 'Approval policy saved.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;
