import json,numpy as np,pyarrow.parquet as pq,sys,math
R=json.load(open('out/big/results.json'))
