import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InstalledTool } from '#executors/client/tools.ts';
import { runBareTool } from './bare-tool.ts';
import { compareLifecycles } from './compare.ts';
import type { Configuration } from './configurations.ts';
import { explained } from './explained.ts';
import { type ConformingService, UnsuitableConfiguration } from './service.ts';

type Outcome = 'same' | 'same error' | 'refused at publication' | 'differs' | 'explained' | 'left out';

/** What the comparison of one configuration with one tool gave. */
export interface Line {
  readonly name: string;
  readonly tool: string;
  readonly outcome: Outcome;
  readonly details: readonly string[];
}

/** Runs a configuration by hand and by the service, and compares them. */
export async function compareOne(
  service: ConformingService,
  tool: InstalledTool,
  configuration: Configuration,
): Promise<Line> {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-conformance-bare-'));
  const line = { name: configuration.name, tool: `${tool.name} ${tool.version}` };
  try {
    const bare = await runBareTool(tool.path, configuration, directory);
    const result = await service.run(tool, configuration);
    // What the tool refuses when it plans, the service refuses before somebody asks for a run.
    if (result.stage === 'publish' && bare.stage === 'plan') {
      return { ...line, outcome: 'refused at publication', details: [bare.error ?? '', result.error ?? ''] };
    }
    const details = compareLifecycles(bare, result);
    const reason = Object.entries(explained).find(([ending]) => configuration.name.endsWith(ending))?.[1];
    if (details.length > 0 && reason !== undefined) return { ...line, outcome: 'explained', details: [reason] };
    if (details.length > 0) return { ...line, outcome: 'differs', details };
    return {
      ...line,
      outcome: bare.error === null ? 'same' : 'same error',
      details: bare.error === null ? [] : [bare.error],
    };
  } catch (error) {
    if (!(error instanceof UnsuitableConfiguration)) throw new Error(configuration.name, { cause: error });
    return { ...line, outcome: 'left out', details: [error.message] };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
