import { MIMEType } from 'node:util';
import { Invalid } from '#domain/shared/errors.ts';

/** A file that a form sent. */
export class UploadedFile {
  /** The path from the browser. It includes folders if a folder was selected. */
  readonly path: string;
  readonly bytes: Buffer;

  constructor(path: string, bytes: Buffer) {
    this.path = path;
    this.bytes = bytes;
  }
}

/** More than any form of this service has. Every part costs work, however small it is. */
const maxParts = 1_000;

export type FormValue = string | UploadedFile;

/**
 * Parses a form that may have files, with the platform's own parser. The body is small and already in memory. A field that was sent several
 * times becomes a list; an empty file field is left out. @throws Invalid if the body is not such a form
 */
export async function parseUploads(
  contentType: string,
  body: Buffer,
): Promise<Record<string, FormValue | FormValue[]>> {
  refuseTooManyParts(contentType, body);
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => {
      throw invalidForm();
    });
  const fields = new Map<string, FormValue[]>();
  for (const [name, value] of form) {
    const read = typeof value === 'string' ? value : await readFile(value);
    if (read === null) continue;
    const values = fields.get(name);
    if (values) values.push(read);
    else fields.set(name, [read]);
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

/** Counts the parts before anything is parsed. @throws Invalid */
function refuseTooManyParts(contentType: string, body: Buffer): void {
  const mark = Buffer.from(`--${readBoundary(contentType)}`);
  let parts = 0;
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + mark.length)) {
    parts += 1;
    if (parts > maxParts + 1) throw new Invalid(`the form has more than ${maxParts} fields and files: send fewer`);
  }
}

/** Reads the boundary by the parser's own rules, so that another parameter cannot be mistaken for it. @throws Invalid */
function readBoundary(contentType: string): string {
  const boundary = parseType(contentType)?.params.get('boundary');
  if (!boundary) throw invalidForm();
  return boundary;
}

function parseType(contentType: string): MIMEType | null {
  try {
    return new MIMEType(contentType);
  } catch {
    return null; // It is no media type at all.
  }
}

function invalidForm(): Invalid {
  return new Invalid('the form is not valid multipart/form-data');
}

async function readFile(file: File): Promise<UploadedFile | null> {
  if (file.name === '' && file.size === 0) return null;
  return new UploadedFile(file.name, Buffer.from(await file.arrayBuffer()));
}
