import type { Member, Reference } from './model.d.mts'

export function undocumented(reference: { readonly names: readonly Member[] }): string[]
export function withoutExample(reference: Reference): string[]
