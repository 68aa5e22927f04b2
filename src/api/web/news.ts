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
    joined: 'You are a member now.',
    'member-set': 'The membership is saved.',
    'member-removed': 'The membership has ended.',
    'invitation-revoked': 'The invitation is revoked.',
    'team-deleted': 'The team is deleted.',
  };
}

/** Confirms changes to the connections of a project or an environment. */
const bindingNews = {
  bound: 'The connection is bound. Runs that begin from now on get it.',
  unbound: 'The binding is removed.',
};

const ofOrganization = levelNews('organization');
const ofTeam = levelNews('team');
const ofAssembly = {
  ...archivingNews('assembly'),
  created: 'The assembly is created. Write its draft, then publish it.',
  published: 'The version is published. It never changes.',
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
  [pages.users]: { deleted: 'The user is deleted, and the address is free again.' },
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
    transferred: 'The service account has another owner. Its keys are revoked, and its memberships have ended.',
    'key-revoked': 'The key is revoked.',
  },
  [pages.organizations]: { deleted: 'The organization is deleted. Its name and slugs are free again.' },
  [pages.organization]: ofOrganization,
  [pages.organizationMembers]: ofOrganization,
  [pages.organizationInvitations]: ofOrganization,
  [pages.team]: ofTeam,
  [pages.teamMembers]: ofTeam,
  [pages.teamInvitations]: ofTeam,
  [pages.projects]: { deleted: 'The project is deleted. Its slug is free again.' },
  [pages.schedules]: { deleted: 'The schedule is deleted. What it has started goes on.' },
  [pages.schedule]: {
    created: 'The schedule is created.',
    saved: 'The changes are saved.',
    paused: 'The schedule is paused.',
    resumed: 'The schedule starts its work again.',
    triggered: 'The work is started. It appears below in a moment.',
  },
  [pages.project]: { ...archivingNews('project'), ...bindingNews },
  [pages.environments]: { deleted: 'The environment is deleted. Its slug is free again.' },
  [pages.environment]: {
    created: 'The environment is created.',
    saved: 'The changes are saved.',
    locked: 'The environment is locked: no apply starts in it.',
    unlocked: 'The environment is unlocked: the applies that waited start.',
    variable: 'The variable is saved. Runs that are admitted from now on get it.',
    'variable-removed': 'The variable is removed.',
    ...bindingNews,
    archived: 'The environment is archived: it takes nothing new, and no run starts in it.',
    unarchived: 'The environment is active again.',
  },
  [pages.variableSets]: { deleted: 'The set is deleted. Runs that were admitted keep what it gave them.' },
  [pages.variableSet]: {
    created: 'The set is created. Add its variables, and attach it to projects and environments.',
    saved: 'The changes are saved.',
    variable: 'The variable is saved. Runs that are admitted from now on get it.',
    'variable-removed': 'The variable is removed.',
    attached: 'The set is attached to these places. Runs that are admitted from now on get its variables there.',
  },
  [pages.connections]: { deleted: 'The connection is deleted, with its credentials.' },
  [pages.connection]: {
    created: 'The connection is created. Bind it to projects and environments whose runs need it.',
    saved: 'The changes are saved.',
    rotated: 'The credentials are replaced. Every phase that begins from now on gets the new ones.',
  },
  [pages.notificationChannels]: { deleted: 'The channel is deleted. What waited is not sent.' },
  [pages.notificationChannel]: {
    created: 'The channel is created.',
    saved: 'The changes are saved.',
    subscribed: 'The channel hears of this from now on.',
    unsubscribed: 'The subscription is removed.',
  },
  [pages.webhooks]: { deleted: 'The webhook is deleted. What waited is not sent.' },
  [pages.webhook]: { saved: 'The changes are saved.' },
  [pages.webhookDelivery]: {
    repeated: 'The message is sent again. This is its new delivery.',
    tried: 'The message is tried again now.',
  },
  [pages.freezeWindows]: { saved: 'The freeze windows are saved.' },
  [pages.catalog]: { deleted: 'The template is deleted. Its runs stay.' },
  [pages.template]: {
    created: 'The template is created. Publish its first version, so that it can be run.',
    saved: 'The template is saved.',
    archived: 'The template is archived. It takes no new versions and no new runs.',
    unarchived: 'The template is active again.',
  },
  [pages.templateVersion]: {
    published: 'The version is published. Nobody can change it any more.',
    yanked: 'The version is yanked: ranges and “latest” no longer find it.',
  },
  [pages.runs]: { deleted: 'The run is deleted.' },
  [pages.run]: {
    admitted: 'The run is admitted.',
    commented: 'Your comment is added.',
    canceled: 'The run is being canceled.',
    forced: 'The run has ended. What its worker still writes is refused.',
    asked: 'The request for a review is recorded.',
  },
  [pages.instance]: {
    created: 'The instance is made. Import the state of what exists into it.',
    imported: 'The state is imported. The next run continues from it.',
    unlocked: 'The instance is free again.',
    forgotten: 'The import is undone. Nothing was destroyed.',
    'follow-saved': 'Saved.',
    'readers-saved': 'Saved. From now on, these alone may read the outputs.',
  },
  [pages.workers]: {
    draining: 'The worker finishes what it executes and takes nothing new.',
    'pool-created': 'The pool is created.',
    'pool-saved': 'The pool is saved.',
    'pool-deleted': 'The pool is deleted.',
  },
  [pages.signingKeys]: {
    published: 'The new key is published. It signs in an hour.',
    withdrawn: 'The new key signs, and all others are withdrawn.',
  },
  [pages.settings]: { saved: 'The settings are saved. They hold from the next request on.' },
  [pages.quotas]: { cleared: 'The quota is removed. Runs that waited for it begin.' },
  [pages.quota]: {
    saved: 'The limits are set.',
    recounted: 'What is used is counted again.',
  },
  [pages.drift]: {
    deleted: 'The monitor is deleted. The runs of its scans stay.',
    suppressed: 'The findings are suppressed.',
  },
  [pages.driftMonitor]: {
    created: 'The monitor is set. It scans at the next time of its schedule.',
    saved: 'The changes are saved.',
    scanning: 'The scan is requested.',
  },
  [pages.driftFinding]: {
    suppressed: 'The finding is suppressed.',
    reopened: 'The finding is open again.',
  },
  [pages.assemblies]: { deleted: 'The assembly is deleted. Its slug is free again, and its runs stay.' },
  [pages.assembly]: ofAssembly,
  [pages.assemblyDraft]: ofAssembly,
  [pages.assemblyRun]: {
    admitted: 'The run is admitted.',
    canceled: 'The run is being canceled, with the runs of its nodes.',
    resumed: 'The run goes on. Nodes that succeeded keep their outputs.',
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
