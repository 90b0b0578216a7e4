/** What a language model would write for the question; the demo model runs it as it is. */
export const DEMO_CODE = `import pandas as pd
import matplotlib.pyplot as plt

sales = pd.read_csv('/mnt/data/sales.csv', parse_dates=['date'])
sales['revenue'] = sales['units'] * sales['unit_price'] * (1 - sales['discount'])
by_month = sales.pivot_table(index=sales['date'].dt.strftime('%Y-%m'), columns='category', values='revenue', aggfunc='sum')

by_month.plot.bar(stacked=True, figsize=(9, 4.5), width=0.8)
plt.title('Revenue by month and category')
plt.xlabel('')
plt.ylabel('euros')
plt.legend(loc='upper left', bbox_to_anchor=(1, 1))
plt.tight_layout()
plt.savefig('/mnt/data/revenue.png', dpi=120)
plt.show()

totals = by_month.sum(axis=1)
print(f'Best month: {totals.idxmax()} with {totals.max():,.0f} euros of {totals.sum():,.0f}')
print('The plot is in /mnt/data/revenue.png')
`
