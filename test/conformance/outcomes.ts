import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InstalledTool } from '#executors/client/tools.ts';
import { runBareTool } from './bare-tool.ts';
import { compareLifecycles } from './compare.ts';
import type { Configuration } from './configurations.ts';
import { type Explanation, explanationOf } from './explained.ts';
import type { Lifecycle } from './lifecycle.ts';
import { type ConformingService, UnsuitableConfiguration } from './service.ts';

type Outcome = 'same' | 'same error' | 'explained' | 'differs' | 'left out';

/** What the comparison of one configuration with one tool gave. */
export interface Line {
  readonly name: string;
  readonly tool: string;
  readonly outcome: Outcome;
  readonly details: readonly string[];
}

export interface Comparison {
  readonly service: ConformingService;
  /** The filesystem mirror that both sides take providers from. */
  readonly mirror: string;
}

/** Runs a configuration by hand and by the service, and compares them. */
export async function compareOne(
  { service, mirror }: Comparison,
  tool: InstalledTool,
  configuration: Configuration,
): Promise<Line> {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-conformance-bare-'));
  const line = { name: configuration.name, tool: `${tool.name} ${tool.version}` };
  try {
    const bare = await runBareTool({ path: tool.path, mirror }, configuration, directory);
    const result = await service.run(tool, configuration);
    return { ...line, ...judge(bare, result, explanationOf(configuration.name, tool.name)) };
  } catch (error) {
    // One configuration that cannot be compared does not end the comparison of the others.
    const message = error instanceof Error ? error.message : String(error);
    return { ...line, outcome: error instanceof UnsuitableConfiguration ? 'left out' : 'differs', details: [message] };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** An explained difference must still be the one that was explained. */
export function judge(
  bare: Lifecycle,
  service: Lifecycle,
  explanation: Explanation | null,
): Pick<Line, 'outcome' | 'details'> {
  const differences = compareLifecycles(bare, service);
  const texts = differences.map(({ text }) => text);
  if (explanation === null) {
    if (differences.length > 0) return { outcome: 'differs', details: texts };
    return bare.error === null ? { outcome: 'same', details: [] } : { outcome: 'same error', details: [bare.error] };
  }
  const parts = differences.map(({ part }) => part);
  const isExpected =
    explanation.parts.join() === parts.join() &&
    service.stage === explanation.stage &&
    (service.error ?? '').includes(explanation.error);
  return isExpected
    ? { outcome: 'explained', details: [explanation.because] }
    : { outcome: 'differs', details: [`not what was explained: ${explanation.because}`, ...texts] };
}
