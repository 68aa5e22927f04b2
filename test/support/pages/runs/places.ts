import type { JsonValue } from '#domain/shared/values/json.ts';
import type { SeededTemplate, Templates } from '../catalog/add-templates.ts';
import type { TemplateKey } from '../catalog/templates.ts';
import type { EnvironmentKey, Environments, SeededEnvironment } from '../environments.ts';
import type { People, PersonKey } from '../people.ts';
import type { SeededTeam, TeamKey, Tenants } from '../tenants.ts';
import { idAt } from './ids.ts';
import { type Resource, resourcesOf } from './infrastructure.ts';

/** Somebody who requests or reviews runs. */
export interface Actor {
  readonly id: string;
  readonly name: string;
  readonly kind: 'user' | 'service_account';
  /** The user who answers for it. */
  readonly responsibleId: string;
}

/** An instance and everything that its runs have in common. */
export interface Place {
  readonly id: string;
  readonly name: string;
  readonly template: SeededTemplate;
  readonly environment: SeededEnvironment;
  readonly team: SeededTeam;
  readonly resources: readonly Resource[];
  readonly outputs: Readonly<Record<string, JsonValue>>;
  readonly requesters: readonly Actor[];
  readonly reviewers: readonly Actor[];
  readonly createdAt: number;
}

const instances = [
  ['networkProduction', 'network', 'main'],
  ['networkProduction', 'network', 'transit'],
  ['networkProduction', 'cluster', 'core'],
  ['networkProduction', 'records', 'northwind.example'],
  ['networkStaging', 'network', 'main'],
  ['networkStaging', 'cluster', 'core'],
  ['networkDevelopment', 'network', 'sandbox'],
  ['networkDevelopment', 'network', 'jonas-test'],
  ['observabilityProduction', 'cluster', 'metrics'],
  ['observabilityProduction', 'bucket', 'logs-archive'],
  ['ledgerStaging', 'database', 'ledger-db'],
  ['ledgerStaging', 'release', 'ledger'],
  ['ledgerProduction', 'database', 'ledger-db'],
  ['ledgerProduction', 'release', 'ledger'],
  ['checkoutDevelopment', 'release', 'checkout'],
  ['checkoutProduction', 'release', 'checkout'],
  ['checkoutProduction', 'database', 'checkout-db'],
  ['shopDevelopment', 'flags', 'shop-flags'],
  ['shopStaging', 'cdn', 'shop-cdn'],
  ['shopProduction', 'cdn', 'shop-cdn'],
  ['shopProduction', 'flags', 'shop-flags'],
  ['shopProduction', 'bucket', 'shop-media'],
  ['trackingProduction', 'cluster', 'fleet'],
  ['trackingProduction', 'database', 'positions'],
  ['depotStaging', 'gateway', 'osl2'],
  ['lakehouseDevelopment', 'topics', 'analytics'],
  ['lakehouseProduction', 'topics', 'analytics'],
  ['lakehouseProduction', 'bucket', 'raw'],
  ['lakehouseProduction', 'cluster', 'spark'],
] as const satisfies readonly (readonly [EnvironmentKey, TemplateKey, string])[];

type Instance = (typeof instances)[number];
export type PlaceKey = `${Instance[0]}/${Instance[2]}` | `${Instance[0]}/${Instance[1]}`;

const staff: Record<TeamKey, { requesters: PersonKey[]; reviewers: PersonKey[] }> = {
  platform: { requesters: ['requester', 'maintainer'], reviewers: ['reviewer', 'operator'] },
  payments: { requesters: ['requester', 'developer', 'maintainer'], reviewers: ['reviewer', 'owner'] },
  storefront: { requesters: ['developer', 'requester'], reviewers: ['reviewer', 'owner'] },
  fleet: { requesters: ['fjordRequester', 'operator'], reviewers: ['fjordReviewer', 'fjordOwner'] },
  data: { requesters: ['fjordRequester'], reviewers: ['fjordReviewer', 'fjordOwner'] },
};

export function toActor({ id, name }: { readonly id: string; readonly name: string }): Actor {
  return { id, name, kind: 'user', responsibleId: id };
}

/** The instances by `<environment>/<template>`; where a template has several in an environment, by `<environment>/<name>`. */
export class Places {
  readonly all: readonly Place[];
  readonly #byKey = new Map<string, Place>();

  constructor(
    people: People,
    { teams }: Tenants,
    environments: Environments,
    templates: Templates,
    accounts: Accounts,
  ) {
    this.all = instances.map(([environmentKey, templateKey, name], index) => {
      const environment = environments[environmentKey];
      const { team } = environment.project;
      const teamKey = (Object.keys(teams) as TeamKey[]).find((key) => teams[key].id === team.id) ?? 'platform';
      const { requesters, reviewers } = staff[teamKey];
      const account = accounts[teamKey];
      const createdAt = Date.now() - (150 - index * 2) * 24 * 60 * 60_000;
      const place = {
        id: idAt(createdAt),
        name,
        template: templates[templateKey],
        environment,
        team,
        resources: resourcesOf(templateKey, name),
        outputs: outputsOf(templateKey, name),
        requesters: [...requesters.map((key) => toActor(people[key])), ...(account ? [account] : [])],
        reviewers: reviewers.map((key) => toActor(people[key])),
        createdAt,
      };
      this.#byKey.set(`${environmentKey}/${name}`, place);
      if (!this.#byKey.has(`${environmentKey}/${templateKey}`))
        this.#byKey.set(`${environmentKey}/${templateKey}`, place);
      return place;
    });
  }

  at(key: PlaceKey): Place {
    const place = this.#byKey.get(key);
    if (!place) throw new Error(`there is no instance ${key}`);
    return place;
  }
}

/** The service accounts that request runs, by their teams. */
export type Accounts = Partial<Record<TeamKey, Actor>>;

const outputs: Partial<Record<TemplateKey, (name: string) => Record<string, JsonValue>>> = {
  network: () => ({
    network_id: 'vpc-0f3a9c1e77b24d815',
    private_subnet_ids: ['subnet-0a11', 'subnet-0b22', 'subnet-0c33'],
    nat_addresses: { 'eu-central-1a': '192.0.2.10', 'eu-central-1b': '192.0.2.11', 'eu-central-1c': '192.0.2.12' },
  }),
  cluster: (name) => ({ endpoint: `https://${name}.eks.example`, kubeconfig: 'apiVersion: v1\nkind: Config\n' }),
  database: (name) => ({
    host: `${name}.rds.example`,
    port: 5432,
    connection_string: `postgres://admin:secret@${name}.rds.example`,
  }),
  release: (name) => ({ url: `https://${name}.northwind.example`, revision: 42 }),
  bucket: (name) => ({ arn: `arn:aws:s3:::${name}` }),
  cdn: () => ({ domain: 'd111111abcdef8.cloudfront.net' }),
  topics: () => ({ topics: ['positions', 'deliveries', 'temperatures', 'invoices'] }),
};

function outputsOf(template: TemplateKey, name: string): Record<string, JsonValue> {
  return outputs[template]?.(name) ?? {};
}
