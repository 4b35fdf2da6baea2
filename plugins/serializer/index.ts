export type { Serializer, UseVariantOptions, VariantSchema, VariantTypes } from './serializer.ts'
export { serializer } from './serializer.ts'
