import type { EntitySchema } from '@mikro-orm/core';
import * as assemblies from './assemblies/area.ts';
import * as audit from './audit/area.ts';
import * as connections from './connections/area.ts';
import * as drift from './drift/area.ts';
import type { Tables } from './entities.ts';
import * as environments from './environments/area.ts';
import * as following from './following/area.ts';
import * as holds from './holds/area.ts';
import * as identity from './identity/area.ts';
import * as instances from './instances/area.ts';
import * as invitations from './invitations/area.ts';
import * as members from './members/area.ts';
import * as memberships from './memberships/area.ts';
import * as messageSending from './message-sending/area.ts';
import * as messages from './messages/area.ts';
import * as news from './news/area.ts';
import * as notificationChannels from './notification-channels/area.ts';
import * as notifications from './notifications/area.ts';
import * as organizations from './organizations/area.ts';
import * as owners from './owners/area.ts';
import * as plugins from './plugins/area.ts';
import * as projects from './projects/area.ts';
import * as quotas from './quotas/area.ts';
import * as registry from './registry/area.ts';
import * as runs from './runs/area.ts';
import * as schedules from './schedules/area.ts';
import * as search from './search/area.ts';
import * as serviceAccounts from './service-accounts/area.ts';
import * as settings from './settings/area.ts';
import type { RetentionKind } from './settings/document.ts';
import * as shared from './shared/area.ts';
import type { DeclaredAction } from './shared/commands/declared-action.ts';
import type { EventSubscription, EventType } from './shared/events/event-type.ts';
import type { Feature } from './shared/features/feature.ts';
import type { Candidates } from './shared/naming/candidates.ts';
import type { NamedColumns } from './shared/naming/named-columns.ts';
import type { AnyDeclaration } from './shared/ownership-graph/declaration.ts';
import type { MonthlyRetention } from './shared/retention/monthly-retention.ts';
import type { SealedColumn } from './shared/sealed/sealed-column.ts';
import * as sources from './sources/area.ts';
import * as teams from './teams/area.ts';
import * as tenancy from './tenancy/area.ts';
import * as tools from './tools/area.ts';
import * as undo from './undo/area.ts';
import * as variableSets from './variable-sets/area.ts';
import * as variables from './variables/area.ts';
import * as webhooks from './webhooks/area.ts';
import * as workers from './workers/area.ts';
import * as workloadIdentity from './workload-identity/area.ts';

/**
 * All areas in the order of their dependencies, floor by floor. An area imports from those before it, types included
 * (`.dependency-cruiser.cjs` reads the order from here).
 */
export const areas = {
  // ground
  tools,
  shared,
  // authority
  tenancy,
  settings,
  quotas,
  identity,
  memberships,
  organizations,
  teams,
  projects,
  'service-accounts': serviceAccounts,
  members,
  invitations,
  owners,
  audit,
  // places
  sources,
  variables,
  workers,
  'workload-identity': workloadIdentity,
  environments,
  holds,
  'variable-sets': variableSets,
  connections,
  registry,
  // delivery
  instances,
  runs,
  // above runs
  following,
  drift,
  assemblies,
  plugins,
  schedules,
  undo,
  // telling
  webhooks,
  news,
  messages,
  'notification-channels': notificationChannels,
  search,
  notifications,
  'message-sending': messageSending,
};

export type AreaName = keyof typeof areas;
export const areaNames = Object.keys(areas) as AreaName[];

/**
 * The exports that the `area.ts` of an area may have. `src/domain` builds its lists from them. Each is a separate export and not a member
 * of one object, because the compiler infers exports one by one. The ownership names columns of tables, which are inferred from the
 * entities.
 *
 * An `area.ts` loads no list of `src/domain`, since the lists load it.
 */
interface Area {
  readonly entities?: readonly EntitySchema[];
  readonly ownership?: readonly AnyDeclaration[];
  readonly events?: Readonly<Record<string, EventType>>;
  readonly subscriptions?: readonly EventSubscription[];
  /** The actions that the area performs by itself and records in the audit. */
  readonly systemActions?: Readonly<Record<string, DeclaredAction>>;
  /** The features that administrators can turn off, by their names in the settings. */
  readonly features?: Readonly<Record<string, Feature>>;
  /** The codes of its errors, with their meanings. */
  readonly errorCodes?: Readonly<Record<string, string>>;
  /** The things that a search finds by name, by their kinds. */
  readonly searched?: Readonly<Record<string, Candidates>>;
  /** The tables of the things that pages look up by id to show their names. */
  readonly named?: { readonly [Table in keyof Tables]?: NamedColumns };
  /** The tables that retention removes month by month, by the names of their settings. */
  readonly retention?: { readonly [Kind in RetentionKind]?: MonthlyRetention };
  /** The columns that the key ring has sealed. */
  readonly sealed?: readonly SealedColumn[];
}

type ListName = 'entities' | 'ownership' | 'subscriptions' | 'sealed';
type RecordName = Exclude<keyof Area, ListName>;

/** The union of what the areas export under a name. */
type Part<Name extends keyof Area> = Exported<(typeof areas)[AreaName], Name>;
type Exported<Each, Name> = Each extends unknown ? (Name extends keyof Each ? Each[Name] : never) : never;

/** An element of the lists that the areas export under a name. */
export type ElementOf<Name extends ListName> = Part<Name> extends readonly (infer Element)[] ? Element : never;

/** All records that the areas export under a name, merged into one. */
export type RecordOf<Name extends RecordName> = Merged<Part<Name>>;

type Merged<Each> = (Each extends unknown ? (each: Each) => void : never) extends (all: infer All) => void
  ? { readonly [Key in keyof All]: All[Key] }
  : never;

/** Joins the lists that the areas export under a name; by default in the order of the areas. */
export function listParts<Name extends ListName>(
  name: Name,
  order: readonly AreaName[] = areaNames,
): readonly ElementOf<Name>[] {
  const all: Readonly<Record<AreaName, Area>> = areas;
  return order.flatMap((area): readonly unknown[] => all[area][name] ?? []) as readonly ElementOf<Name>[];
}

/** Merges the records that the areas export under a name. */
export function mergeParts<Name extends RecordName>(name: Name): RecordOf<Name> {
  const all: Readonly<Record<AreaName, Area>> = areas;
  return Object.assign({}, ...areaNames.map((area) => all[area][name])) as RecordOf<Name>;
}
