import type typescript from 'typescript'

export const ts: typeof typescript
export function open(files: readonly string[], unsaved?: ReadonlyMap<string, string>): typescript.LanguageService
