import { definePlugin } from '../../kernel/index.ts'

export const health = definePlugin({ name: 'health', setup(_ctx, _options: object = {}) {} })
