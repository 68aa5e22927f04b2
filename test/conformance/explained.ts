import type { InstalledTool } from '#executors/client/tools.ts';
import type { Stage } from './lifecycle.ts';

/** What the service intentionally does in another way than the bare tool. */
export interface Explanation {
  /** The parts of the comparison that differ, as compare.ts names them. */
  readonly parts: readonly string[];
  /** Where the service ends. */
  readonly stage: Stage;
  /** What its error contains; empty if it has none. */
  readonly error: string;
  readonly because: string;
}

interface Group extends Explanation {
  /** The ends of the names of the configurations. */
  readonly names: readonly string[];
  /** Null: with each tool. */
  readonly tool: InstalledTool['name'] | null;
}

const otherVersion = {
  parts: ['stage'],
  stage: 'publish',
  because: 'a version whose required_version no version of its tool satisfies is refused when it is published',
} as const;

const groups: readonly Group[] = [
  {
    names: [
      'internal/backend/local/testdata/plan-outputs-changed',
      'internal/command/testdata/apply-sensitive-output',
      'internal/command/testdata/plan-sensitive-output',
    ],
    tool: null,
    parts: ['outputs'],
    stage: 'done',
    error: '',
    because: 'an output whose value is that of a sensitive one too is masked, because it would show the secret',
  },
  {
    names: [
      'testdata/backend-change-multi-to-multi',
      'testdata/backend-change-multi-to-no-default-with-default',
      'testdata/backend-change-multi-to-no-default-without-default',
      'testdata/backend-change-multi-to-single',
      'testdata/backend-new-migrate',
      'testdata/backend-new-migrate-existing',
      'testdata/backend-plan-local-match',
      'testdata/backend-plan-local-mismatch-lineage',
      'testdata/backend-plan-local-newer',
      'testdata/init-backend-selected-workspace-doesnt-exist-multi',
      'testdata/show-json-identity/destroy',
      'testdata/state-list-backend-default',
    ],
    tool: null,
    parts: ['stage'],
    stage: 'publish',
    error: 'which is reserved: import a state into an instance',
    because:
      'its files include a state, which is no part of a version: a run would deploy again what the state says is deployed',
  },
  {
    names: ['modules/error-syntax', 'modules/error-unclosed-template'],
    tool: null,
    parts: ['stage'],
    stage: 'publish',
    error: 'main.tf, line 2: a text in quotes does not end on its line',
    because: 'text that the tool cannot read is refused when it is published, and not only when it is planned',
  },
  {
    names: ['testdata/init-syntax-invalid-backend-attribute-invalid'],
    tool: null,
    parts: ['stage'],
    stage: 'publish',
    error: 'main.tf, line 4: the character "$" is not part of the language',
    because: 'text that the tool cannot read is refused when it is published, and not only when it is planned',
  },
  {
    names: ['modules/error-undeclared-variable'],
    tool: null,
    parts: ['stage'],
    stage: 'publish',
    error: 'main.tf, line 2: var.nowhere is used, but no variable "nowhere" is declared',
    because:
      'a variable that is not declared is refused when the version is published, and not only when it is planned',
  },
  {
    names: [
      'modules/module-missing',
      'testdata/config-build',
      'testdata/local-module-symlink',
      'testdata/nested-errors',
    ],
    tool: null,
    parts: ['stage'],
    stage: 'publish',
    error: 'is in a directory that is not among the files',
    because: 'a directory that is missing is refused when the version is published, and not only when it is planned',
  },
  {
    names: ['modules/tofu-state-encryption'],
    tool: 'opentofu',
    parts: ['stage'],
    stage: 'plan',
    error: 'the given plan file is encrypted',
    because:
      'plans are shown in a sandbox without the files of the template, which cannot read a plan that the template encrypts',
  },
  {
    names: ['ephemeral-errors/outputs/__mod-with-ephemeral-output'],
    tool: null,
    parts: ['stage'],
    stage: 'publish',
    error: 'phemeral',
    because:
      'the plan by hand first asks for a variable that has no value; publication needs no values, and names the next error',
  },
  {
    names: ['opentofu@v1.12.6/internal/command/testdata/init-module-variable-version'],
    tool: 'terraform',
    parts: ['stage'],
    stage: 'publish',
    error: 'Function calls not allowed',
    because:
      'of the two errors of the tool, publication names the one of the files; that the registry cannot be reached is none of the version',
  },
  {
    names: ['invalid-modules/override-nonexist-variable'],
    tool: null,
    parts: ['stage'],
    stage: 'publish',
    error: 'must have a file such as "main.tf" at its top',
    because: 'its only file is an override, which is refused when it is published',
  },
  {
    names: [
      'opentofu@v1.12.6/internal/command/e2etest/testdata/json_dual',
      'opentofu@v1.12.6/internal/command/e2etest/testdata/oci-module-source/fake-registry/fake-module-pkg',
      'opentofu@v1.12.6/internal/command/testdata/command-check-required-version',
      'opentofu@v1.12.6/internal/command/testdata/init-check-required-version',
    ],
    tool: 'terraform',
    parts: ['stage'],
    stage: 'publish',
    error: 'terraform reads no other file there',
    because:
      'files that the tool of a version does not read are named when it is published, where Terraform says at the plan that there are none',
  },
  {
    names: [
      'opentofu@v1.12.6/internal/command/testdata/command-check-required-version',
      'opentofu@v1.12.6/internal/command/testdata/init-check-required-version',
      'invalid-modules/unsupported-version-and-other-error',
    ],
    tool: 'opentofu',
    ...otherVersion,
    error: 'no version of opentofu is in all of',
  },
  {
    names: [
      'terraform@v1.11.4/internal/command/testdata/command-check-required-version',
      'terraform@v1.11.4/internal/command/testdata/init-check-required-version',
      'invalid-modules/unsupported-version-and-other-error',
      'valid-modules/predecessor-version-constraints-ignored',
      'modules/required-version-fails',
    ],
    tool: 'terraform',
    ...otherVersion,
    error: 'no version of terraform is in all of',
  },
];

/** A configuration that is named here must differ, and in this way. */
export function explanationOf(name: string, tool: InstalledTool['name']): Explanation | null {
  return (
    groups.find(
      (group) => [null, tool].includes(group.tool) && group.names.some((end) => `/${name}`.endsWith(`/${end}`)),
    ) ?? null
  );
}
