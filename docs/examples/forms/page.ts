/** A field, with the place of its message. `aria-describedby` makes screen readers say the message with the field. */
const field = (name: string, label: string) => `
  <p>
    <label for="${name}">${label}</label>
    <input id="${name}" name="${name}" aria-describedby="${name}-message">
    <span id="${name}-message"></span>
  </p>`

export const page = `<!doctype html>
<html lang="en">
<title>Book seats</title>
<form novalidate>${field('name', 'Name')}${field('email', 'Email')}${field('seats', 'Seats')}
  <button>Book</button> <output></output>
</form>
<script type="module" src="/form.js"></script>
</html>`

export const script = `
const form = document.querySelector('form')
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const body = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ''))
  if ('seats' in body) body.seats = Number(body.seats)
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/bookings', { method: 'POST', headers, body: JSON.stringify(body) })
  const { errors = [] } = await response.json()
  for (const input of form.querySelectorAll('input')) {
    const issue = errors.find(({ path }) => path === '/' + input.name)
    input.setAttribute('aria-invalid', String(issue !== undefined))
    document.getElementById(input.name + '-message').textContent = issue?.message ?? ''
  }
  form.querySelector('output').textContent = response.ok ? 'Booked.' : ''
  form.querySelector('[aria-invalid=true]')?.focus()
})`
