import { testServer } from 'framework/testing'
import { expect, test } from 'vitest'
import { makeServer } from './tenants.ts'

test('a person sees the data of the chosen company, and of none that the person does not belong to', async () => {
  await using server = await testServer(() => makeServer('a secret of more than 32 characters'))
  const logIn = async (person: string) => {
    const response = (await server.inject.post(`/log-in/${person}`)).assertStatus(204)
    const headers = { cookie: String(response.headers()['set-cookie']).split(';')[0]!, 'sec-fetch-site': 'same-origin' }
    return {
      get: (path: string) => server.inject.get(path, { headers }),
      choose: (company: string) => server.inject.put('/company', { headers, body: { company } }),
    }
  }
  const [ada, bob] = [await logIn('ada'), await logIn('bob')]
  ;(await ada.get('/invoices')).assertStatus(403)
  ;(await ada.get('/companies')).assertBodyDeepEqual(['acme', 'globex'])
  ;(await ada.choose('acme')).assertStatus(204)
  ;(await ada.get('/invoices')).assertBodyDeepEqual([{ id: 1, total: 100 }])
  ;(await ada.choose('globex')).assertStatus(204)
  ;(await ada.get('/invoices')).assertBodyDeepEqual([{ id: 2, total: 200 }])
  ;(await bob.choose('acme')).assertStatus(403)
  ;(await server.inject.get('/invoices')).assertStatus(401)

  // The session still has the company that she has left.
  await server.services.get('database').query("delete from members where person = 'ada' and company = 'globex'")
  const { code } = (await ada.get('/invoices')).assertStatus(403).body() as { code: string }
  expect(code).toBe('TenantRequiredError')
})
