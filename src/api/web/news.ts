import { type PagePattern, pages } from './page-list.ts';

/** What is said after the forms of whatever can be archived. */
function archivingNews(noun: Capitalize<string>) {
  return {
    archived: `${noun} archived.`,
    unarchived: `${noun} unarchived.`,
    saved: 'Changes saved.',
    created: `${noun} created.`,
    transferred: `${noun} transferred.`,
  };
}

/** What is said on the pages of an organization and of a team. */
function levelNews(noun: Capitalize<string>) {
  return {
    ...archivingNews(noun),
    joined: 'You are now a member.',
    'member-set': 'Membership saved.',
    'member-set-limited':
      'Membership saved. The platform role of this member does not let them review runs: who manages users can give them another one.',
    'member-removed': 'Member removed.',
    'invitation-revoked': 'Invitation revoked.',
    'team-deleted': 'Team deleted.',
  };
}

/** Confirms changes to the connections of a project or an environment. */
const bindingNews = {
  bound: 'Connection bound. New runs get it.',
  unbound: 'Binding removed.',
};

const ofOrganization = levelNews('Organization');
const ofTeam = levelNews('Team');
const ofAssembly = {
  ...archivingNews('Assembly'),
  created: 'Assembly created. Write its draft, then publish it.',
  published: 'Version published.',
  'draft-saved': 'Draft saved.',
};

/**
 * What a page says about the last action, by the word with which a redirect named it in the address (`done=saved`). A form leads to a page with
 * a word of that page, or it does not compile.
 */
const news = {
  [pages.notifications]: {
    read: 'Notification marked as read.',
    archived: 'Notification archived.',
    unarchived: 'Notification unarchived.',
    'all-read': 'All notifications marked as read.',
    'thread-read': 'Thread marked as read.',
    'thread-archived': 'Thread archived.',
  },
  [pages.notificationPreferences]: { saved: 'Preferences saved.' },
  [pages.profile]: {
    confirmed: 'E-mail address confirmed.',
    details: 'Details saved.',
    password: 'Password changed. All your other sessions have ended.',
    session: 'Session ended.',
    'api-key': 'API key revoked.',
  },
  [pages.users]: { deleted: 'User deleted.' },
  [pages.user]: {
    created: 'User created. Make a password link if the person is to choose the password.',
    saved: 'Changes saved.',
    confirmed: 'E-mail address confirmed.',
  },
  [pages.serviceAccounts]: { deleted: 'Service account deleted. Its keys no longer work.' },
  [pages.serviceAccount]: {
    created: 'Service account created. Make a key for the program that uses it.',
    saved: 'Changes saved.',
    enabled: 'Service account enabled. Its keys work again.',
    disabled: 'Service account disabled. Its keys are refused.',
    transferred: 'Service account transferred. Its keys are revoked, and its memberships have ended.',
    'key-revoked': 'Key revoked.',
  },
  [pages.organizations]: { deleted: 'Organization deleted.' },
  [pages.organization]: ofOrganization,
  [pages.organizationMembers]: ofOrganization,
  [pages.organizationInvitations]: ofOrganization,
  [pages.team]: ofTeam,
  [pages.teamMembers]: ofTeam,
  [pages.teamInvitations]: ofTeam,
  [pages.setUpTeamPeople]: {
    created: 'Team created. You are its owner.',
    'member-set': 'Membership saved. Add more people, or go on.',
  },
  [pages.setUpTeamEnvironment]: { 'project-created': 'Project created.' },
  [pages.setUpTeamPolicy]: {
    'environment-created': 'Environment created.',
    saved: 'Approval policy saved.',
  },
  [pages.projects]: { deleted: 'Project deleted.' },
  [pages.schedules]: { deleted: 'Schedule deleted. Running work continues.' },
  [pages.schedule]: {
    created: 'Schedule created.',
    saved: 'Changes saved.',
    paused: 'Schedule paused.',
    resumed: 'Schedule resumed.',
    triggered: 'Work started. It appears below in a moment.',
  },
  [pages.project]: { ...archivingNews('Project'), ...bindingNews },
  [pages.environments]: { deleted: 'Environment deleted.' },
  [pages.environment]: {
    created: 'Environment created.',
    saved: 'Changes saved.',
    locked: 'Environment locked. No apply starts in it.',
    unlocked: 'Environment unlocked. Applies that waited start now.',
    variable: 'Variable saved. New runs get it.',
    'variable-removed': 'Variable removed.',
    ...bindingNews,
    archived: 'Environment archived.',
    unarchived: 'Environment unarchived.',
  },
  [pages.variableSets]: { deleted: 'Variable set deleted. Existing runs keep its variables.' },
  [pages.variableSet]: {
    created: 'Variable set created. Add its variables, and attach it to projects and environments.',
    saved: 'Changes saved.',
    variable: 'Variable saved. New runs get it wherever the set is attached.',
    'variable-removed': 'Variable removed.',
    attached: 'Attachments saved. New runs in these places get its variables.',
  },
  [pages.connections]: { deleted: 'Connection deleted, with its credentials.' },
  [pages.connection]: {
    created: 'Connection created. Bind it to projects and environments whose runs need it.',
    saved: 'Changes saved.',
    rotated: 'Credentials replaced. New phases of runs use the new ones.',
  },
  [pages.notificationChannels]: { deleted: 'Channel deleted. Waiting messages are discarded.' },
  [pages.notificationChannel]: {
    created: 'Channel created.',
    saved: 'Changes saved.',
    subscribed: 'Subscription added.',
    unsubscribed: 'Subscription removed.',
  },
  [pages.webhooks]: { deleted: 'Webhook deleted. Waiting deliveries are discarded.' },
  [pages.webhook]: { saved: 'Changes saved.' },
  [pages.webhookDelivery]: {
    repeated: 'Message sent again. This is its new delivery.',
    tried: 'Delivery retried now.',
  },
  [pages.freezeWindows]: { saved: 'Freeze windows saved.' },
  [pages.catalog]: { deleted: 'Template deleted. Its runs are kept.' },
  [pages.template]: {
    created: 'Template created. Publish its first version, so that it can be run.',
    saved: 'Template saved.',
    archived: 'Template archived.',
    unarchived: 'Template unarchived.',
  },
  [pages.templateVersion]: {
    published: 'Version published.',
    yanked: 'Version withdrawn. Ranges and “latest” no longer choose it.',
  },
  [pages.runs]: { deleted: 'Run deleted.' },
  [pages.run]: {
    admitted: 'Run created.',
    commented: 'Comment added.',
    canceled: 'Cancellation requested.',
    forced: 'Run force-canceled.',
    asked: 'Review requested.',
  },
  [pages.instance]: {
    created: 'Instance created. You can now import a state.',
    imported: 'State imported. The next run continues from it.',
    unlocked: 'Instance unlocked.',
    forgotten: 'Import undone. Nothing was destroyed.',
    'follow-saved': 'Changes saved.',
    'readers-saved': 'Access to the outputs saved.',
  },
  [pages.workers]: {
    draining: 'Worker draining. It finishes its runs and takes no new ones.',
    'pool-created': 'Pool created.',
    'pool-saved': 'Pool saved.',
    'pool-deleted': 'Pool deleted.',
  },
  [pages.signingKeys]: {
    published: 'New key published. It signs in an hour.',
    withdrawn: 'New key in use. All other keys are withdrawn.',
  },
  [pages.settings]: { saved: 'Settings saved.' },
  [pages.quotas]: { cleared: 'Quota removed. Waiting runs start.' },
  [pages.quota]: {
    saved: 'Limits saved.',
    recounted: 'Use counted again.',
  },
  [pages.drift]: {
    deleted: 'Monitor deleted. The runs of its scans are kept.',
    suppressed: 'Findings suppressed.',
  },
  [pages.driftMonitor]: {
    created: 'Monitor created. The time of its next scan is below.',
    saved: 'Changes saved.',
    scanning: 'Scan requested.',
  },
  [pages.driftFinding]: {
    suppressed: 'Finding suppressed.',
    reopened: 'Finding reopened.',
  },
  [pages.assemblies]: { deleted: 'Assembly deleted. Its runs are kept.' },
  [pages.assembly]: ofAssembly,
  [pages.assemblyDraft]: ofAssembly,
  [pages.assemblyRun]: {
    admitted: 'Run created.',
    canceled: 'Cancellation requested, also for the runs of its nodes.',
    resumed: 'Run resumed. Nodes that succeeded keep their outputs.',
  },
} as const satisfies { readonly [Pattern in PagePattern]?: Readonly<Record<string, string>> };

/** The pages that say something about the last action. */
export type PageWithNews = keyof typeof news;

/** The words that a page knows. */
export type NewsOf<Pattern> = Pattern extends PageWithNews ? keyof (typeof news)[Pattern] : never;

/** What a page says about the last action. A word that it does not know says nothing, so an address can make a page say nothing else. */
export function findNews(page: PageWithNews, done: string | undefined): string | null {
  const texts: Readonly<Record<string, string>> = news[page];
  return done !== undefined && Object.hasOwn(texts, done) ? (texts[done] ?? null) : null;
}
