import { OutboundFailure, type OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
import { SendingFailure } from '../sending-failure.ts';

const timeoutMs = 15_000;

/** Posts JSON to the address of a user or a channel. Only an answer of 2xx counts as accepted. @throws SendingFailure */
export async function postJson(
  http: OutboundHttp,
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const status = await answerTo(http, url, body, headers);
  if (status >= 200 && status < 300) return;
  const why = status >= 300 && status < 400 ? ': redirects are not followed' : '';
  throw new SendingFailure(`the address answered ${status}${why}`);
}

async function answerTo(http: OutboundHttp, url: string, body: string, headers: Readonly<Record<string, string>>) {
  try {
    const all = { 'content-type': 'application/json', 'user-agent': 'delivery-coordinator', ...headers };
    return (await http.send({ method: 'POST', url, headers: all, body, timeoutMs, maxBytes: 1024 })).status;
  } catch (error) {
    if (error instanceof OutboundFailure) throw new SendingFailure(error.message, { cause: error });
    throw error;
  }
}
