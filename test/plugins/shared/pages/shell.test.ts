import { expect, test } from 'vitest'
import { escapeHtml } from '../../../../plugins/shared/pages/shell.ts'

test('a text ends neither an element nor an attribute, and an entity in it is text', () => {
  expect(escapeHtml(`</b><script a="1" b='2'>&lt;`)).toBe(
    '&lt;/b&gt;&lt;script a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;lt;',
  )
  expect(escapeHtml('plain')).toBe('plain')
})
