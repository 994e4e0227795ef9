Bxj
location../xj
offset99p