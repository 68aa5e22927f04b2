import { type ZodType, z } from 'zod';
import {
  type Diagnostic,
  diagnosticSeverities,
  maxDiagnosticLengths,
  maxDiagnostics,
} from '#domain/runs/diagnostics/model.ts';
import { changeActions, expectations, type PlanSummary, type ResourceChange } from '#domain/runs/plans/model.ts';
import {
  checkKinds,
  checkStatuses,
  type DeferredChange,
  maxProblemLength,
  maxProblems,
  type PlanCheck,
  type PlannedAction,
  type PlannedOutput,
  type PlanSections,
} from '#domain/runs/plans/sections.ts';
import { programCalls, type SpanName } from '#domain/shared/tasks/spans.ts';
import { namedValues } from '#domain/shared/values/json.ts';
import { stepKinds } from './request-schema.ts';
import { count, digest, type FieldsOf, json, Modules, positive, reason, Tool, text } from './value-schemas.ts';

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
} satisfies FieldsOf<ResourceChange>);
const counted = ['add', 'change', 'destroy', 'replace', 'forget', 'import', 'move'] as const;
const countedSections = ['outputs', 'checks', 'warnings', 'actions', 'deferred'] as const;
const Summary = z.record(z.enum([...counted, ...countedSections]), count) satisfies ZodType<PlanSummary>;
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
} satisfies FieldsOf<Diagnostic>);

const Sections = z.object({
  outputs: z.array(
    z.object({
      name: text,
      action: z.enum(changeActions),
      before: json,
      after: json,
      sensitive: z.boolean(),
    } satisfies FieldsOf<PlannedOutput>),
  ),
  checks: z.array(
    z.object({
      address: text,
      kind: z.enum(checkKinds),
      status: z.enum(checkStatuses),
      problems: z.array(z.string().max(maxProblemLength)).max(maxProblems),
    } satisfies FieldsOf<PlanCheck>),
  ),
  actions: z.array(
    z.object({
      address: text,
      type: text,
      event: text.nullable(),
      trigger: text.nullable(),
      config: json,
      deferred: text.nullable(),
    } satisfies FieldsOf<PlannedAction>),
  ),
  deferred: z.array(z.object({ reason: text, change: Change } satisfies FieldsOf<DeferredChange>)),
  diagnostics: z.array(DiagnosticItem).max(maxDiagnostics),
} satisfies FieldsOf<PlanSections>);

export const maxCheckItems = 100;

/** A step whose program the worker does not have. */
const MissingProgram = z.object({
  list: z.enum(stepKinds),
  /** 0 for the first step of the list. */
  index: count,
  program: z.string().max(32 * 1024),
});
export type MissingProgram = z.output<typeof MissingProgram>;

/** The result of checking a template without running it. */
const CheckReport = z.object({
  /** The tool's errors and warnings about the configuration. */
  findings: z.array(DiagnosticItem).max(maxDiagnostics),
  /** What could not be checked, and why. */
  unchecked: z.array(shortText('detail')).max(maxCheckItems),
  missingPrograms: z.array(MissingProgram).max(stepKinds.length * 50),
});
export type CheckReport = z.output<typeof CheckReport>;

const Plan = z.object({
  /** The planned changes. Secret values are `{"sensitive": true}`, values not known yet are `{"unknown": true}`. */
  changes: z.array(Change),
  /** How reality differs from the state, if the tool reports that. */
  drift: z.array(Change),
  /** The sections of the plan besides its changes of resources: outputs, checks, actions and warnings. */
  sections: Sections,
  summary: Summary,
  hasChanges: z.boolean(),
  /** Whether the changes are assumed because the template has no plan of its own. */
  assumed: z.boolean(),
  /** `sha256:…` over the changes, the tool, the sources, and every byte that an apply would use. */
  digest,
});

const timedParts = ['sandbox', 'program', 'results'] as const satisfies readonly SpanName[];
export const maxHostSpans = 100;

/** How long a part of a call of a program took. */
const HostSpan = z.object({
  name: z.enum(timedParts),
  call: z.enum(programCalls),
  startedAt: z.number().min(0),
  endedAt: z.number().min(0),
});
export type HostSpan = z.output<typeof HostSpan>;

export const WireResult = z.object({
  outcome: z.enum(['succeeded', 'failed', 'canceled', 'timed_out', 'limit_exceeded']),
  reason: reason.nullable(),
  /** For people; secrets are redacted. */
  message: text.nullable(),
  /** The exit code of the last program that ran. */
  exitCode: z.int().min(0).max(255).nullable(),
  tool: Tool.optional(),
  plan: Plan.optional(),
  check: CheckReport.optional(),
  /** Sensitive values are in clear text; the caller must seal them. */
  outputs: Outputs.optional(),
  resourceCount: count.optional(),
  /** The exact modules from elsewhere that a plan resolved, if they were not known before. */
  modules: Modules.optional(),
  /** The messages of the tool or of the steps: errors and warnings, redacted and limited in number and length. */
  diagnostics: z.array(DiagnosticItem).max(maxDiagnostics).optional(),
  /** How long the first calls of programs took. */
  spans: z.array(HostSpan).max(maxHostSpans).optional(),
});
export type WireResult = z.output<typeof WireResult>;
