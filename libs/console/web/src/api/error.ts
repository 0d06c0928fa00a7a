/** A field that the API found wrong. */
export interface Issue {
  path: string;
  code: string;
  message: string;
}

interface Fields {
  status: number;
  code: string;
  issues?: Issue[];
  requestId?: string | undefined;
  limit?: string | undefined;
  upgradeUrl?: string | undefined;
  retryAfter?: number | undefined;
}

/** The one kind of error that asking the API ends with, but for an `AbortError`. */
export class ApiError extends Error {
  /** The status of the answer; 0 where there was none. */
  readonly status: number;
  /** The API's stable word for it; `offline` where there was no answer. */
  readonly code: string;
  readonly issues: Issue[];
  readonly requestId: string | undefined;
  /** With 402: the limit that was reached or the feature that is lacking, as the team's usage names it. */
  readonly limit: string | undefined;
  readonly upgradeUrl: string | undefined;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  constructor(message: string, fields: Fields) {
    super(message);
    this.name = "ApiError";
    this.status = fields.status;
    this.code = fields.code;
    this.issues = fields.issues ?? [];
    this.requestId = fields.requestId;
    this.limit = fields.limit;
    this.upgradeUrl = fields.upgradeUrl;
    this.retryAfter = fields.retryAfter;
  }

  /** What an answer says that is no success. A proxy may have written it, so nothing is sure. */
  static async of(response: Response): Promise<ApiError> {
    const body = await response.json().catch(() => null);
    const said = body !== null && typeof body === "object" ? body : {};
    return new ApiError(word(said.error) ?? `${response.status} ${response.statusText}`.trim(), {
      status: response.status,
      code: word(said.code) ?? "unknown",
      issues: Array.isArray(said.issues) ? said.issues : [],
      requestId: response.headers.get("x-request-id") ?? undefined,
      limit: word(said.limit),
      upgradeUrl: word(said.upgradeUrl),
      retryAfter: seconds(response.headers.get("retry-after")),
    });
  }

  /** No answer came. */
  static offline(): ApiError {
    return new ApiError("The server cannot be reached.", { status: 0, code: "offline" });
  }

  /** What is said of a field or of something in it (`urls[0]`, `claims.sub`), by the field's path. */
  of(path: string): string | undefined {
    const isIn = (other: string) =>
      other === path || (other.startsWith(path) && /[.[]/.test(other.charAt(path.length)));
    return this.issues.find((issue) => isIn(issue.path))?.message;
  }
}

/** Any failure as one that can be shown; an abort is none. */
export function shown(failure: unknown): ApiError | undefined {
  if (failure instanceof ApiError) return failure;
  if (isAbort(failure)) return undefined;
  throw failure;
}

export function isAbort(failure: unknown): boolean {
  return failure instanceof DOMException && failure.name === "AbortError";
}

function word(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function seconds(value: string | null): number | undefined {
  const number = Number(value);
  return value !== null && Number.isFinite(number) ? number : undefined;
}
