import { docsPath } from '#api/edge/docs/docs.ts';
import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import { pagePath, pages, withQuery } from '../paths.ts';
import { capitalize } from '../text.ts';
import { type InboxCount, renderInboxLink, renderUnreadLink } from './inbox-link.ts';
import { type NavigationGroup, openGroups, sectionOf } from './navigation.ts';
import type { ScopeMenu } from './scope-menu.ts';

/** The content around every page of a signed-in visitor. */
export interface Frame {
  readonly visitor: {
    readonly id: string;
    readonly name: string;
    readonly role: PlatformRole | null;
    readonly email: string | null;
  };
  /** The address of the page, with its query. */
  readonly address: string;
  /** The number of runs that wait for the visitor's approval; null if the visitor may not approve any. */
  readonly approvals: InboxCount | null;
  /** The number of unread notifications; null if they were not counted. */
  readonly unread: InboxCount | null;
  /** Whether notifications are turned on. */
  readonly hasNotifications: boolean;
  readonly scope: ScopeMenu;
  /** The pages that the visitor may open. */
  readonly navigation: readonly NavigationGroup[];
}

/** The bar above every page: scope, search, approvals, and the visitor's own menu. */
export function renderBar(frame: Frame): Html {
  return html`<button class="icon-button nav-opener" type="button" popovertarget="navigation" aria-label="Menu">${renderIcon('menu')}</button>
${renderScope(frame.scope)}
<form class="search" role="search" action="${pages.search}" method="get">
${renderIcon('search')}<input type="search" name="q" aria-label="Search" placeholder="Search" maxlength="200" autocomplete="off" spellcheck="false" data-key="/">
<kbd aria-hidden="true">/</kbd>
</form>
${frame.approvals ? renderInboxLink(frame.approvals) : null}
${frame.unread ? renderUnreadLink(frame.unread) : null}
${renderVisitor(frame)}`;
}

function renderScope({ label, choices, organizations }: ScopeMenu): Html {
  const choice = (each: ScopeMenu['choices'][number], kind = '') =>
    html`<li><a class="menu-item ${kind}" href="${each.path}" ${each.isCurrent ? html`aria-current="true"` : null}>${each.label}</a></li>`;
  return html`<details class="menu scope">
<summary class="menu-button"><span class="unseen">Organization or team: </span>${renderIcon('building-2')}<span class="clip">${label}</span>${renderIcon('chevron-down')}</summary>
<ul class="menu-panel">
${choices.map((each) => choice(each))}
${organizations.map((each) => html`${choice(each, 'menu-group')}${each.teams.map((team) => choice(team, 'menu-sub'))}`)}
<li><a class="menu-item menu-last" href="${pagePath(pages.organizations)}">All organizations</a></li>
</ul>
</details>`;
}

function renderVisitor({ visitor, hasNotifications }: Frame): Html {
  return html`<details class="menu visitor">
<summary class="menu-button"><span class="unseen">Your menu: </span>${renderIcon('circle-user')}<span class="clip">${visitor.name}</span>${renderIcon('chevron-down')}</summary>
<ul class="menu-panel menu-end">
<li class="menu-note"><strong>${visitor.name}</strong><br>${visitor.email ?? ''}${visitor.role ? ` · ${capitalize(visitor.role)}` : ''}</li>
<li><a class="menu-item" href="${pagePath(pages.profile)}">Profile and API keys</a></li>
${hasNotifications ? html`<li><a class="menu-item" href="${pagePath(pages.notifications)}">Notifications</a></li>` : null}
<li><button class="menu-item" type="button" data-do="switch-time-zone" hidden>Show times in <span data-time-zone>UTC</span></button></li>
<li><button class="menu-item" type="button" data-do="switch-theme" hidden>Theme: <span data-theme-name>system</span></button></li>
<li><button class="menu-item" type="button" data-do="show-keys" hidden>Keyboard keys <kbd>?</kbd></button></li>
<li><form method="post" action="${pagePath(pages.logout)}"><button class="menu-item" type="submit">Sign out</button></form></li>
</ul>
</details>`;
}

/** The main navigation. Its links keep the scope. Groups open and close without scripts. */
export function renderNavigation({ navigation, address, scope }: Frame): Html {
  const section = sectionOf(navigation, new URL(address, 'http://service.invalid').pathname);
  const open = openGroups(navigation, section);
  const renderEntries = ({ entries }: NavigationGroup) =>
    html`<ul>${entries.map(
      (entry) =>
        html`<li><a class="navigation-link" href="${withQuery(entry.path, scope.query)}" ${entry.path === section ? html`aria-current="page"` : null}>${renderIcon(entry.icon)}${entry.label}</a></li>`,
    )}</ul>`;
  return html`<nav class="navigation" id="navigation" popover aria-label="Main">
${navigation.map((group) =>
  group.label === null
    ? renderEntries(group)
    : html`<details ${open.has(group) ? html`open` : null}><summary class="navigation-label">${group.label}${renderIcon('chevron-down')}</summary>${renderEntries(group)}</details>`,
)}
<ul class="navigation-foot"><li><a class="navigation-link" href="${docsPath}">${renderIcon('terminal')}API reference</a></li></ul>
</nav>`;
}
