import { z } from 'zod';
import { diagnosticSeverities, maxDiagnosticLengths, maxDiagnostics } from '#domain/runs/diagnostics/model.ts';
import { changeActions, expectations } from '#domain/runs/plans/model.ts';
import { checkKinds, checkStatuses, maxProblemLength, maxProblems } from '#domain/runs/plans/sections.ts';
import { namedValues } from '#domain/shared/values/json.ts';
import { stepKinds } from './request-schema.ts';
import { count, digest, json, Modules, positive, reason, Tool, text } from './value-schemas.ts';

const secretDigest = z.string().max(100).optional();
const Path = z.array(z.union([text, z.number()]));
const Change = z.object({
  address: text,
  type: text.optional(),
  action: z.enum(changeActions),
  before: json,
  after: json,
  previousAddress: text.optional(),
  imported: z.object({ id: text.nullable() }).optional(),
  actionReason: text.optional(),
  replacePaths: z.array(Path).optional(),
  unknownPaths: z.array(Path).optional(),
  sensitivePaths: z.array(z.object({ path: Path, changed: z.boolean(), digest: secretDigest })).optional(),
  otherSecrets: z.object({ changed: z.boolean(), digest: secretDigest }).optional(),
  expectation: z.enum(expectations).optional(),
});
const counted = ['add', 'change', 'destroy', 'replace', 'forget', 'import', 'move'] as const;
const countedSections = ['outputs', 'checks', 'warnings', 'actions', 'deferred'] as const;
const Summary = z.record(z.enum([...counted, ...countedSections]), count);
const Outputs = namedValues(z.strictObject({ value: json, sensitive: z.boolean() }));

const shortText = (name: keyof typeof maxDiagnosticLengths) => z.string().min(1).max(maxDiagnosticLengths[name]);
const DiagnosticItem = z.object({
  severity: z.enum(diagnosticSeverities),
  message: shortText('message'),
  detail: shortText('detail').optional(),
  file: shortText('file').optional(),
  line: positive.optional(),
  snippet: shortText('snippet').optional(),
  address: shortText('address').optional(),
  program: shortText('program').optional(),
});

const Sections = z.object({
  outputs: z.array(
    z.object({ name: text, action: z.enum(changeActions), before: json, after: json, sensitive: z.boolean() }),
  ),
  checks: z.array(
    z.object({
      address: text,
      kind: z.enum(checkKinds),
      status: z.enum(checkStatuses),
      problems: z.array(z.string().max(maxProblemLength)).max(maxProblems),
    }),
  ),
  actions: z.array(
    z.object({
      address: text,
      type: text,
      event: text.nullable(),
      trigger: text.nullable(),
      config: json,
      deferred: text.nullable(),
    }),
  ),
  deferred: z.array(z.object({ reason: text, change: Change })),
  diagnostics: z.array(DiagnosticItem).max(maxDiagnostics),
});

export const maxCheckItems = 100;

const Check = z.object({
  findings: z.array(DiagnosticItem).max(maxDiagnostics),
  unchecked: z.array(shortText('detail')).max(maxCheckItems),
  missingPrograms: z
    .array(z.object({ list: z.enum(stepKinds), index: count, program: z.string().max(32 * 1024) }))
    .max(stepKinds.length * 50),
});

export const WireResult = z.object({
  outcome: z.enum(['succeeded', 'failed', 'canceled', 'timed_out', 'limit_exceeded']),
  reason: reason.nullable(),
  message: text.nullable(),
  exitCode: z.int().min(0).max(255).nullable(),
  tool: Tool.optional(),
  plan: z
    .object({
      changes: z.array(Change),
      drift: z.array(Change),
      sections: Sections,
      summary: Summary,
      hasChanges: z.boolean(),
      assumed: z.boolean(),
      digest,
    })
    .optional(),
  check: Check.optional(),
  outputs: Outputs.optional(),
  resourceCount: count.optional(),
  modules: Modules.optional(),
  diagnostics: z.array(DiagnosticItem).max(maxDiagnostics).optional(),
});
export type WireResult = z.output<typeof WireResult>;
