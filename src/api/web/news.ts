import { type PagePattern, pages } from './page-list.ts';

/** What is said after the forms of whatever can be archived. */
function archivingNews(noun: string) {
  return {
    archived: `The ${noun} is archived.`,
    unarchived: `The ${noun} is active again.`,
    saved: 'The changes are saved.',
    created: `The ${noun} is created.`,
    transferred: `The ${noun} is transferred.`,
  };
}

/** What is said on the pages of an organization and of a team. */
function levelNews(noun: string) {
  return {
    ...archivingNews(noun),
    joined: 'You are now a member.',
    'member-set': 'The membership is saved.',
    'member-removed': 'The membership has ended.',
    'invitation-revoked': 'The invitation is revoked.',
    'team-deleted': 'The team is deleted.',
  };
}

/** Confirms changes to the connections of a project or an environment. */
const bindingNews = {
  bound: 'The connection is bound. New runs get it.',
  unbound: 'The binding is removed.',
};

const ofOrganization = levelNews('organization');
const ofTeam = levelNews('team');
const ofAssembly = {
  ...archivingNews('assembly'),
  created: 'The assembly is created. Write its draft, then publish it.',
  published: 'The version is published.',
  'draft-saved': 'The draft is saved.',
};

/**
 * What a page says about the last action, by the word with which a redirect named it in the address (`done=saved`). A form leads to a page with
 * a word of that page, or it does not compile.
 */
const news = {
  [pages.notifications]: {
    read: 'The notification is marked as read.',
    archived: 'The notification is archived.',
    unarchived: 'The notification is no longer archived.',
    'all-read': 'All notifications are marked as read.',
    'thread-read': 'All notifications about it are marked as read.',
    'thread-archived': 'All notifications about it are archived.',
  },
  [pages.notificationPreferences]: { saved: 'Your preferences are saved.' },
  [pages.profile]: {
    confirmed: 'Your address is confirmed.',
    details: 'Your details are saved.',
    password: 'Your password is changed, and all your other sessions have ended.',
    session: 'The session has ended.',
    'api-key': 'The API key is revoked.',
  },
  [pages.users]: { deleted: 'The user is deleted.' },
  [pages.user]: {
    created: 'The user is created. Make a password link if the person is to choose the password.',
    saved: 'The changes are saved.',
    confirmed: 'The address is confirmed.',
  },
  [pages.serviceAccounts]: { deleted: 'The service account is deleted, and its keys no longer work.' },
  [pages.serviceAccount]: {
    created: 'The service account is created. Make a key for the program that uses it.',
    saved: 'The changes are saved.',
    enabled: 'The service account is enabled. Its keys work again.',
    disabled: 'The service account is disabled. Its keys are refused.',
    transferred: 'The service account is transferred. Its keys are revoked, and its memberships have ended.',
    'key-revoked': 'The key is revoked.',
  },
  [pages.organizations]: { deleted: 'The organization is deleted.' },
  [pages.organization]: ofOrganization,
  [pages.organizationMembers]: ofOrganization,
  [pages.organizationInvitations]: ofOrganization,
  [pages.team]: ofTeam,
  [pages.teamMembers]: ofTeam,
  [pages.teamInvitations]: ofTeam,
  [pages.setUpTeamPeople]: {
    created: 'The team is created, and you are its owner.',
    'member-set': 'The membership is saved. Add more people, or go on.',
  },
  [pages.setUpTeamEnvironment]: { 'project-created': 'The project is created.' },
  [pages.setUpTeamPolicy]: {
    'environment-created': 'The environment is created.',
    saved: 'The approval policy is saved.',
  },
  [pages.projects]: { deleted: 'The project is deleted.' },
  [pages.schedules]: { deleted: 'The schedule is deleted. Running work continues.' },
  [pages.schedule]: {
    created: 'The schedule is created.',
    saved: 'The changes are saved.',
    paused: 'The schedule is paused.',
    resumed: 'The schedule is resumed.',
    triggered: 'The work is started. It appears below in a moment.',
  },
  [pages.project]: { ...archivingNews('project'), ...bindingNews },
  [pages.environments]: { deleted: 'The environment is deleted.' },
  [pages.environment]: {
    created: 'The environment is created.',
    saved: 'The changes are saved.',
    locked: 'The environment is locked: no apply starts in it.',
    unlocked: 'The environment is unlocked: the applies that waited start.',
    variable: 'The variable is saved. New runs get it.',
    'variable-removed': 'The variable is removed.',
    ...bindingNews,
    archived: 'The environment is archived.',
    unarchived: 'The environment is active again.',
  },
  [pages.variableSets]: { deleted: 'The set is deleted. Existing runs keep its variables.' },
  [pages.variableSet]: {
    created: 'The set is created. Add its variables, and attach it to projects and environments.',
    saved: 'The changes are saved.',
    variable: 'The variable is saved. New runs get it.',
    'variable-removed': 'The variable is removed.',
    attached: 'The set is attached to these places. New runs there get its variables.',
  },
  [pages.connections]: { deleted: 'The connection is deleted, with its credentials.' },
  [pages.connection]: {
    created: 'The connection is created. Bind it to projects and environments whose runs need it.',
    saved: 'The changes are saved.',
    rotated: 'The credentials are replaced. New phases of runs use the new ones.',
  },
  [pages.notificationChannels]: { deleted: 'The channel is deleted. Waiting messages are discarded.' },
  [pages.notificationChannel]: {
    created: 'The channel is created.',
    saved: 'The changes are saved.',
    subscribed: 'The subscription is added.',
    unsubscribed: 'The subscription is removed.',
  },
  [pages.webhooks]: { deleted: 'The webhook is deleted. Waiting deliveries are discarded.' },
  [pages.webhook]: { saved: 'The changes are saved.' },
  [pages.webhookDelivery]: {
    repeated: 'The message is sent again. This is its new delivery.',
    tried: 'The message is tried again now.',
  },
  [pages.freezeWindows]: { saved: 'The freeze windows are saved.' },
  [pages.catalog]: { deleted: 'The template is deleted. Its runs are kept.' },
  [pages.template]: {
    created: 'The template is created. Publish its first version, so that it can be run.',
    saved: 'The template is saved.',
    archived: 'The template is archived.',
    unarchived: 'The template is active again.',
  },
  [pages.templateVersion]: {
    published: 'The version is published.',
    yanked: 'The version is withdrawn: ranges and “latest” no longer choose it.',
  },
  [pages.runs]: { deleted: 'The run is deleted.' },
  [pages.run]: {
    admitted: 'The run is created.',
    commented: 'Your comment is added.',
    canceled: 'The run is being canceled.',
    forced: 'The run was force-canceled.',
    asked: 'The review is requested.',
  },
  [pages.instance]: {
    created: 'The instance is created. You can now import a state.',
    imported: 'The state is imported. The next run continues from it.',
    unlocked: 'The instance is unlocked.',
    forgotten: 'The import is undone. Nothing was destroyed.',
    'follow-saved': 'Saved.',
    'readers-saved': 'Access to the outputs is saved.',
  },
  [pages.workers]: {
    draining: 'The worker is draining: it finishes its runs and takes no new ones.',
    'pool-created': 'The pool is created.',
    'pool-saved': 'The pool is saved.',
    'pool-deleted': 'The pool is deleted.',
  },
  [pages.signingKeys]: {
    published: 'The new key is published. It signs in an hour.',
    withdrawn: 'The new key signs, and all others are withdrawn.',
  },
  [pages.settings]: { saved: 'The settings are saved.' },
  [pages.quotas]: { cleared: 'The quota is removed. Waiting runs start.' },
  [pages.quota]: {
    saved: 'The limits are saved.',
    recounted: 'The use is counted again.',
  },
  [pages.drift]: {
    deleted: 'The monitor is deleted. The runs of its scans are kept.',
    suppressed: 'The findings are suppressed.',
  },
  [pages.driftMonitor]: {
    created: 'The monitor is created. It scans at the next scheduled time.',
    saved: 'The changes are saved.',
    scanning: 'The scan is requested.',
  },
  [pages.driftFinding]: {
    suppressed: 'The finding is suppressed.',
    reopened: 'The finding is open again.',
  },
  [pages.assemblies]: { deleted: 'The assembly is deleted. Its runs are kept.' },
  [pages.assembly]: ofAssembly,
  [pages.assemblyDraft]: ofAssembly,
  [pages.assemblyRun]: {
    admitted: 'The run is created.',
    canceled: 'The run is being canceled, with the runs of its nodes.',
    resumed: 'The run is resumed. Nodes that succeeded keep their outputs.',
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
