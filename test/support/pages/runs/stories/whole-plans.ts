import { noSections, type PlanSections } from '#domain/runs/plans/sections.ts';
import { changeOf } from '../plans.ts';
import type { Narrator } from './narrator.ts';
import type { RunStory } from './story.ts';

const [minute, hour] = [60_000, 60 * 60_000];
const pending = {
  status: 'pending_approval',
  reached: 'approval',
  required: 1,
  waitingOn: { code: 'approval' },
} as const;

/** Runs that wait with plans that hold more than changes of resources. */
export function tellWholePlans(narrator: Narrator) {
  const { resources } = narrator.places.at('networkStaging/main');
  const [first, second, third, ...rest] = resources.map((resource) => changeOf(resource, 'no-op'));
  const forgotten = resources.slice(4, 6).map((resource) => changeOf(resource, 'forget'));
  const moved = [first, second].flatMap((change, index) =>
    change ? [{ ...change, previousAddress: `module.old.${change.address}[${index}]` }] : [],
  );
  const imported = third ? [{ ...third, imported: { id: 'nat-0d4f6a1c22b7' } }] : [];
  const updated = resources.slice(6, 9).map((resource) => changeOf(resource, 'update', narrator.random));
  return {
    wholePlan: narrator.tell('networkStaging/main', {
      ...pending,
      ago: 35 * minute,
      message: 'Take the old module apart',
      changes: [...updated, ...forgotten, ...moved, ...imported, ...rest.slice(10, 12)],
      sections: everything,
    }),
    outputsAlone: narrator.tell('shopProduction/bucket', {
      ...pending,
      ago: 80 * minute,
      message: 'Name the new host in the outputs',
      changes: [],
      sections: { ...noSections, outputs },
    }),
    failingCheck: narrator.tell('checkoutProduction/database', {
      ago: 4 * hour,
      operation: 'plan',
      reached: 'planning',
      message: 'Is the certificate still good?',
      changes: [],
      sections: { ...noSections, checks },
    }),
  } satisfies Record<string, RunStory>;
}

const outputs: PlanSections['outputs'] = [
  {
    name: 'endpoint',
    action: 'update',
    before: 'https://media.northwind.example',
    after: 'https://media-2.northwind.example',
    sensitive: false,
  },
  { name: 'zones', action: 'create', before: null, after: ['eu-central-1a', 'eu-central-1b'], sensitive: false },
  { name: 'token', action: 'update', before: { sensitive: true }, after: { sensitive: true }, sensitive: true },
  { name: 'arn', action: 'update', before: 'arn:aws:s3:::media', after: { unknown: true }, sensitive: false },
  { name: 'legacy_host', action: 'delete', before: 'media-old.northwind.example', after: null, sensitive: false },
];

const checks: PlanSections['checks'] = [
  {
    address: 'check.certificate',
    kind: 'check',
    status: 'fail',
    problems: ['The certificate of media.northwind.example expires in less than 14 days.'],
  },
  { address: 'check.reachable', kind: 'check', status: 'error', problems: [] },
  { address: 'aws_vpc.this', kind: 'resource', status: 'pass', problems: [] },
];

const everything: PlanSections = {
  outputs,
  checks,
  actions: [
    {
      address: 'action.aws_lambda_invoke.warm_up',
      type: 'aws_lambda_invoke',
      event: 'AfterUpdate',
      trigger: 'aws_flow_log.this',
      config: { function_name: 'warm-up', payload: { sensitive: true } },
      deferred: null,
    },
    {
      address: 'action.aws_cloudfront_create_invalidation.all',
      type: 'aws_cloudfront_create_invalidation',
      event: null,
      trigger: null,
      config: { paths: ['/*'] },
      deferred: 'resource_config_unknown',
    },
  ],
  deferred: [
    {
      reason: 'resource_config_unknown',
      change: {
        address: 'module.peering["payments"].aws_route.to_peer',
        action: 'create',
        before: null,
        after: { unknown: true },
      },
    },
  ],
  diagnostics: [
    {
      severity: 'warning',
      message: 'Argument is deprecated',
      detail: 'The argument "vpc" is deprecated: use "domain" instead.',
      file: 'modules/nat/main.tf',
      line: 12,
      address: 'module.nat.aws_eip.this["eu-central-1a"]',
    },
    { severity: 'warning', message: 'Some objects will no longer be managed' },
  ],
};
