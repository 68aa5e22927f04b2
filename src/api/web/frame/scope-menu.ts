import { readableTeams } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Named, Names } from '#domain/tenancy/names.ts';
import { type LocalPath, pagePath, pages, type Query, withQuery } from '../paths.ts';
import { type Scope, scopeQuery } from '../visit/scope.ts';
import { type Offered, sectionOf } from './navigation.ts';

interface ScopeChoice {
  readonly label: string;
  readonly path: LocalPath;
  readonly isCurrent: boolean;
}

/** The organization or team that lists are limited to, and the others that the visitor can choose. */
export interface ScopeMenu {
  readonly label: string;
  readonly choices: readonly ScopeChoice[];
  /** The visitor's organizations, each with the visitor's teams in it. */
  readonly organizations: readonly (ScopeChoice & { readonly teams: readonly ScopeChoice[] })[];
  /** The query that links to other pages keep. */
  readonly query: Query;
}

const everything = 'All teams';

/** The page, its visitor, and the scope of its lists. */
export interface Framed extends Offered {
  readonly principal: Principal;
  /** The address of the page, with its query. */
  readonly address: string;
  readonly scope: Scope;
}

/** Describes the scope of a page, with links that show the same section in another scope. */
export function describeScope({ principal, address, scope, navigation }: Framed, names: Names): ScopeMenu {
  const { organizationId, teamId } = scope;
  const section = sectionOf(navigation, new URL(address, 'http://service.invalid').pathname) ?? pagePath(pages.home);
  const choose = (label: string, query: Query, isCurrent: boolean): ScopeChoice => {
    return { label, path: withQuery(section, query), isCurrent };
  };
  const nameOf = (id: string) => (isReadable(principal, names.get(id)) && names.get(id)?.name) || 'Unknown';
  const teamsIn = (organization: string | null) =>
    Object.keys(principal.teams)
      .filter((id) => names.get(id)?.organizationId === organization)
      .map((id) => choose(nameOf(id), { team_id: id }, id === teamId))
      .sort(byLabel);
  const organizations = Object.keys(principal.organizations).map((id) => ({
    ...choose(nameOf(id), { organization_id: id }, id === organizationId && teamId === undefined),
    teams: teamsIn(id),
  }));
  const chosen = teamId ?? organizationId;
  return {
    label: chosen === undefined ? everything : nameOf(chosen),
    choices: [choose(everything, {}, chosen === undefined)],
    organizations: organizations.sort(byLabel),
    query: scopeQuery({ organizationId, teamId }),
  };
}

/** Whether the visitor may learn the name of a team or an organization. The address may contain any id. */
function isReadable(principal: Principal, named: Named | undefined): boolean {
  if (!named) return false;
  if (Object.hasOwn(principal.organizations, named.id)) return true;
  const readable = readableTeams(principal);
  if (readable === 'all') return true;
  return readable.teams.includes(named.id) || readable.organizations.includes(named.organizationId ?? '');
}

function byLabel(one: ScopeChoice, other: ScopeChoice): number {
  return one.label.localeCompare(other.label);
}
