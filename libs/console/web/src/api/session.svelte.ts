import { api, body, onSignedOut, type Schema } from "./client";
import { ApiError, shown } from "./error";

/** What tells other tabs that another person is signed in, or acts for another team. */
const CHANGED = "trapline.session";

/** Who is signed in. */
class Session {
  /** Undefined until it is known; null while nobody is. */
  me = $state.raw<Schema["Me"] | null | undefined>();
  /** Why it is not known. */
  error = $state.raw<ApiError | undefined>();
  /** Whether the session ended while the page was in use. */
  expired = $state(false);

  #ending = async () => {};

  constructor() {
    onSignedOut(() => {
      if (this.me) this.expired = true;
    });
  }

  async load(): Promise<void> {
    try {
      this.me = await body(api.GET("/api/auth/me"));
      this.error = undefined;
    } catch (failure) {
      const error = shown(failure);
      if (error?.status === 401) this.me = null;
      else this.error = error;
    }
  }

  /** Signs in; whether it is somebody else than before. */
  async signIn(email: string, password: string): Promise<boolean> {
    const before = this.me?.person.id;
    this.take(await body(api.POST("/api/auth/sign-in", { body: { email, password } })));
    return before !== undefined && before !== this.me?.person.id;
  }

  /** Takes over whoever an answer says is signed in now. */
  take(me: Schema["Me"]): void {
    this.me = me;
    this.error = undefined;
    this.expired = false;
  }

  /** Acts for another of the person's teams from now on. */
  async switchTo(teamId: string): Promise<void> {
    await this.#ending();
    this.take(await body(api.POST("/api/auth/team", { body: { teamId } })));
    this.#tell();
  }

  /** Tells when another tab switched to another team, or signed out. */
  onChangedElsewhere(tell: () => void): void {
    addEventListener("storage", ({ key }) => {
      if (key === CHANGED) tell();
    });
  }

  #tell(): void {
    localStorage.setItem(CHANGED, String(Date.now()));
  }

  /** Names what still needs the session, and is waited for before it ends. */
  beforeEnd(finish: () => Promise<void>): void {
    this.#ending = finish;
  }

  async signOut(): Promise<void> {
    await this.#ending();
    await api.POST("/api/auth/sign-out");
    this.me = null;
    this.expired = false;
    this.#tell();
  }

  /** Whether the person has a right, by the API's word for it. */
  can(right: string): boolean {
    return this.me?.can.includes(right) ?? false;
  }
}

export const session = new Session();
