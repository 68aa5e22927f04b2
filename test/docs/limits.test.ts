import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { tableUnder } from './markdown.ts';

/** The first words of the row of each file that sets a limit, a queue or a budget. */
const rows: Readonly<Record<string, readonly string[]>> = {
  'src/api/edge/limits/rate-limit.ts': ['requests a minute', 'wrong passwords and tokens'],
  'src/domain/identity/passwords/passwords.ts': ['checking passwords'],
  'src/api/pipeline/invocation/costly-reads.ts': ['costly reads'],
  'src/api/pipeline/pipeline.ts': ['large bodies'],
  'src/api/edge/limits/stream-limit.ts': ['event streams and requests with `wait`'],
  'src/api/main.ts': ['evaluations of schemas and assemblies'],
  'src/worker/main.ts': ['evaluations of schemas and assemblies'],
  'src/domain/assemblies/spec/text/yaml-source.ts': ['text of a draft in YAML'],
  'src/api/tenancy/outbound-tests.ts': ['tests of connections, channels and webhooks'],
  'src/domain/sources/git/snapshot.ts': ['reading repositories'],
  'src/api/plugins/action-operations.ts': ['questions about plugin actions'],
  'src/api/plugins/resource-operations.ts': ['restorations of plugin resources'],
  'src/domain/registry/checks/store.ts': ['checks of templates by workers'],
  'src/domain/runs/steps/shares.ts': ['slots of a worker pool that several teams may use'],
  'src/domain/notifications/creation/event-rules.ts': ['notifications that ask for a review'],
  'src/domain/messages/queue/mail-limits.ts': ['mails that callers cause'],
  'src/domain/messages/queue/lease-store.ts': ['sending messages, by workers'],
  'src/domain/webhooks/deliveries/lease-store.ts': ['sending webhooks, by workers'],
};

/** Matches the source of a file that sets a limit. */
const setsLimit =
  /new (FairLimit|ShareLimit|YieldingPlaces|UploadLimit|StreamLimit|RequestCounts|GuessLimit|Evaluator)\(|= new ConcurrencyLimit\(|await incrementCounts\(em,|return leaseFairly<|function lockCounting|waitingOn: \{ code: 'pool_share'|at\.slice\(0, 10\)|parseDocument\(|new Composer\(/;

it('the table of limits lists exactly the limits of the code, with their scopes', () => {
  const files = globSync('src/**/*.ts').filter((file) => setsLimit.test(readFileSync(file, 'utf8')));
  expect(files.sort()).toEqual(Object.keys(rows).sort());
  const listed = tableUnder('docs/operating.md', '### Whose each limit is');
  const names = [...new Set(Object.values(rows).flat())];
  expect(listed.map(([name = '']) => name.replace(/, in a process$/, '')).sort()).toEqual(names.sort());
  expect(listed.filter((cells) => cells.length !== 5 || cells.includes(''))).toEqual([]);
});

it('no limit is counted by the id of a principal, because anybody can create service accounts', () => {
  const kept = Object.keys(rows).map((file) => [file, readFileSync(file, 'utf8')] as const);
  const byIdentity = kept.filter(([, text]) =>
    /\.(run|open|begin|count|charge)\(\s*(request\.)?principal\.id\b/.test(text),
  );
  expect(byIdentity.map(([file]) => file)).toEqual([]);
});
