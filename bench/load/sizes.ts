import { type Comparison, interleave } from '../benchmark.ts';
import type { Testbed } from '../installation/testbed.ts';
import { percentile, type Sample } from '../report/statistics.ts';
import type { HttpClient } from './http-client.ts';
import { runLoad } from './load.ts';

/** An installation with many rows or with few. */
interface Filled {
  readonly installation: { readonly http: HttpClient };
}

/** The paths of the requests to compare, by what they are called in the report. */
export type Requests<Size extends Filled> = Readonly<Record<string, (filled: Size) => string>>;

/** Sends each request `count` times, one at a time, and compares the medians in a large installation with those in a small one. */
export async function compareSizes<Size extends Filled>(
  testbed: Testbed,
  requests: Requests<Size>,
  { large, small }: Readonly<Record<'large' | 'small', { readonly name: string; readonly filled: Size }>>,
  count = 300,
): Promise<Comparison[]> {
  const figures = await interleave(testbed, {
    [large.name]: () => readAll(requests, large.filled, count),
    [small.name]: () => readAll(requests, small.filled, count),
  });
  return Object.keys(requests).map((kind) => ({
    what: kind,
    unit: 'ms',
    target: { atMost: 1.5 },
    service: figures(large.name, kind),
    other: figures(small.name, kind),
  }));
}

async function readAll<Size extends Filled>(requests: Requests<Size>, filled: Size, count: number): Promise<Sample> {
  const sample: Record<string, number> = {};
  for (const [kind, pathOf] of Object.entries(requests)) {
    const request = async () => void (await filled.installation.http.call('GET', pathOf(filled)));
    sample[kind] = percentile((await runLoad(count, 1, request)).latencies, 0.5);
  }
  return sample;
}
